/** Names of the examples, as the example world has them. */
const here: readonly (readonly [RegExp, string])[] = [
  [/\bcreate crm contacts\b/, 'create hubspot companies'],
  [/\bcrm\/syncs\/contacts\b/, 'hubspot/syncs/contacts'],
  [/\bcrm\b/g, 'hubspot'],
  [/\bacme\b/g, 'demo'],
];

/** The first line of the help's examples. */
export function exampleOf(help: string): string {
  const [, examples = ''] = help.split(/Examples?\n/);
  const [first = ''] = examples.split('\n');
  return first.trim();
}

/** The arguments of the example in the example world. */
export const argumentsHere = (example: string): string[] =>
  here
    .reduce((text, [from, to]) => text.replace(from, to), example)
    .split(' ')
    .slice(1);
