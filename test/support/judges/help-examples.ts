import { commands } from '#cli/command-list.ts';

/** Names of the examples, as the project has them that plays them. */
const here: readonly (readonly [RegExp, string])[] = [
  [/\bcreate crm contacts\b/, 'create hubspot companies'],
  [/\badd jira\/projects\b/, 'add slack/channels'],
  [/\bcrm\/syncs\/contacts\b/, 'hubspot/syncs/contacts'],
  [/\bcrm\b/g, 'hubspot'],
  [/\bacme\b/g, 'demo'],
];

/** The first line of the help's examples. */
function exampleOf(help: string): string {
  const [, examples = ''] = help.split(/Examples?\n/);
  const [first = ''] = examples.split('\n');
  return first.trim();
}

/** The arguments of the example in that project. */
export const argumentsHere = (example: string): string[] =>
  [...here.reduce((text, [from, to]) => text.replace(from, to), example).matchAll(/"([^"]*)"|\S+/g)]
    .map(([word, quoted]) => quoted ?? word)
    .slice(1);

/** They change the log of a machine, need another gateway or project, or run a program, and have tests of their own. */
const apart =
  /^(log|backup|restore|providers|root-keys|keys|audit|upgrade|import|export|migrate|serve|test)$/;

/** The first example of each other command, by its name. */
export const commandExamples = commands
  .filter(({ name }) => !apart.test(name))
  .map(({ name, help }) => [name, exampleOf(help)] as const);
