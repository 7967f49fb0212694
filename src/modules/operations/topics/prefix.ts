/** The name of a topic as the log of this installation has it. */
export const prefixed = (name: string, prefix: string): string =>
  name.replace(/^svc\./, `${prefix}.`);
