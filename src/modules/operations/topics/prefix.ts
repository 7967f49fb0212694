/** The name of a topic in the log of this installation. */
export const prefixed = (name: string, prefix: string): string =>
  name.replace(/^svc\./, `${prefix}.`);
