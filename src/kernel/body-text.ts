const charset = /;\s*charset\s*=\s*"?([\w.:-]{1,40})/i;

/**
 * The text of a body in the charset of its content type, by the labels of the Encoding standard; UTF-8 without one that
 * the standard has. A byte order mark is not part of the text, and outweighs the content type.
 */
export function bodyText(bytes: Uint8Array, contentType = ''): string {
  return new TextDecoder(markedCharset(bytes) ?? statedCharset(contentType)).decode(bytes);
}

function markedCharset([first, second, third]: Uint8Array): string | null {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8';
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : null;
}

function statedCharset(contentType: string): string {
  const [, label = 'utf-8'] = charset.exec(contentType) ?? [];
  try {
    return new TextDecoder(label).encoding;
  } catch (error) {
    if (error instanceof RangeError) return 'utf-8';
    throw error;
  }
}

/** The fields of a form in order. A field that is repeated is the list of its values. */
export function formFields<T>(
  pairs: Iterable<readonly [string, T]>,
): Readonly<Record<string, T | readonly T[]>> {
  const lists = new Map<string, T[]>();
  for (const [name, value] of pairs) {
    const values = lists.get(name);
    if (values === undefined) lists.set(name, [value]);
    else values.push(value);
  }
  return Object.fromEntries(
    [...lists].map(([name, values]) => [
      name,
      values.length === 1 && values[0] !== undefined ? values[0] : values,
    ]),
  );
}
