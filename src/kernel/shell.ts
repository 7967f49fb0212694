/** One word of a POSIX shell, whatever the text contains. */
export const shellWord = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
