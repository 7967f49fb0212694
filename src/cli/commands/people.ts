import type { Client, Input, ListedConsoleSession, Person } from '#client/index.ts';
import { counted } from '#kernel/counted.ts';
import { accountHelp, confirm, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';
import { uncheckedWord } from '../options.ts';

const options = {
  name: ['--name <name>', 'invite: the name that lists show; default: the address'],
  role: [
    '--role <environment:role>',
    'invite: a role in an environment, or in "account"; repeatable',
    'repeatable',
  ],
  yes: ['-y, --yes', 'deactivate, end-session, end-sessions: do not ask'],
  json: ['--json', 'the answer as JSON on stdout'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly operands: readonly string[];
}

export const people = defineCommand({
  name: 'people',
  usage: '',
  summary: 'Show who signs in to the console, invite people, and change their roles',
  about: `A person is named by e-mail address or id. Roles are owner, developer, support and read_only, each in one environment;
in "account" a role is that of the account and of all environments.`,
  words: {
    list: 'the people, by e-mail address',
    'invite <email>': 'add a person, and print the link that signs in once',
    'role <person> <environment> <role>': 'set the role in an environment; "none" takes it away',
    'link <person>': 'print a new link that signs in once; earlier links stop working',
    'deactivate <person>': 'sign the person out, and refuse further sign-ins',
    'activate <person>': 'let a deactivated person sign in again',
    'sessions [person]': 'the browsers that are signed in, newest first',
    'end-session <id>': 'sign one browser out',
    'end-sessions <person>': 'sign all browsers of a person out',
  },
  defaultWord: 'list',
  options,
  help: `${accountHelp}

Examples
  svc people invite ada@example.com --name Ada --role dev:developer --role prod:read_only
  svc people role ada@example.com prod support
  svc people sessions ada@example.com
  svc people deactivate ada@example.com --yes`,

  async run({ word, positionals: operands, values }, context) {
    await withAccount(context, (client) => tasks[word]({ context, client, values, operands }));
  },
});

const tasks = {
  list,
  invite,
  role,
  link,
  deactivate,
  activate: (task: Task) => change(task, { is_active: true }),
  sessions,
  'end-session': endSession,
  'end-sessions': endSessions,
};

const none = 'none';

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /people');
  await showRows(context, values.json, data, heads, cells);
}

async function invite({ context, client, values, operands: [email = ''] }: Task): Promise<void> {
  const { name = email, role: roles = [] } = values;
  if (roles.length === 0) throw usageError('Give a role: --role <environment>:<role>');
  const { data } = await client.request('POST /people', {
    body: { email, display_name: name, roles: roles.map(grantOf) },
  });
  showLink(context, values, data);
}

/** @throws CommandFailure for a text without a role */
function grantOf(text: string) {
  const at = text.lastIndexOf(':');
  if (at <= 0) throw usageError(`--role takes <environment>:<role>, not "${text}"`);
  return { environment: text.slice(0, at), role: uncheckedWord(text.slice(at + 1)) };
}

async function role(task: Task): Promise<void> {
  const [, environment = '', chosen = ''] = task.operands;
  const person = await personNamed(task);
  const others = person.roles.filter(
    (one) => one.from === 'owner' && one.environment !== environment,
  );
  const kept = others.map((one) => ({ environment: one.environment, role: one.role }));
  const roles =
    chosen === none
      ? kept
      : [...kept, { environment, role: uncheckedWord(chosen) as Person['roles'][number]['role'] }];
  await change(task, { roles }, person);
}

async function link(task: Task): Promise<void> {
  const { context, client, values } = task;
  const { id, email, is_active: isActive } = await personNamed(task);
  if (!isActive) {
    const message = `${email} is deactivated; first: svc people activate ${email}`;
    throw new CommandFailure(message, { exitCode: exitCodes.refused });
  }
  const { data } = await client.request('POST /people/{id}/sign-in-links', { params: { id } });
  showLink(context, values, data);
}

async function deactivate(task: Task): Promise<void> {
  const person = await personNamed(task);
  await confirm(
    task.context,
    task.values,
    `Sign ${person.email} out, and refuse further sign-ins?`,
  );
  await change(task, { is_active: false }, person);
}

async function change(
  task: Task,
  body: Input<'PATCH /people/{id}'>['body'],
  person?: Person,
): Promise<void> {
  const { context, client, values } = task;
  const { id } = person ?? (await personNamed(task));
  const { data } = await client.request('PATCH /people/{id}', { params: { id }, body });
  if (values.json === true) context.output.result(JSON.stringify(data));
  else await showRows(context, false, [data], heads, cells);
}

async function sessions(task: Task): Promise<void> {
  const { context, client, values, operands } = task;
  const query = operands.length === 0 ? {} : { person_id: (await personNamed(task)).id };
  const { data } = await client.request('GET /account/sessions', { query });
  const titles = ['session', 'holder', 'browser', 'network', 'last used', 'ends'];
  await showRows(context, values.json, data, titles, (one) => [
    one.id,
    holderOf(one),
    one.browser ?? '-',
    one.ip_prefix ?? '-',
    one.last_used_at,
    one.expires_at,
  ]);
}

const holderOf = ({ person, keys }: ListedConsoleSession): string =>
  person?.email ?? `${counted(keys.length, 'key')}: ${keys.join(', ')}`;

async function endSession({ context, client, values, operands: [id = ''] }: Task): Promise<void> {
  await confirm(context, values, `Sign out the browser of the session ${id}?`);
  await client.request('DELETE /account/sessions/{id}', { params: { id } });
  showEnded(context, values, 1);
}

async function endSessions(task: Task): Promise<void> {
  const { context, client, values } = task;
  const { id, email } = await personNamed(task);
  await confirm(context, values, `Sign out all browsers of ${email}?`);
  const { data } = await client.request('DELETE /people/{id}/sessions', { params: { id } });
  showEnded(context, values, data.ended);
}

function showEnded({ output }: Context, { json }: Values, ended: number): void {
  output.result(json === true ? JSON.stringify({ ended }) : `Ended ${counted(ended, 'session')}`);
}

/** The person that the first operand names. @throws CommandFailure if there is none */
async function personNamed({ client, operands: [name = ''] }: Task): Promise<Person> {
  const { data } = await client.request('GET /people');
  const found = data.find(({ id, email }) => id === name || email === name.toLowerCase());
  if (found !== undefined) return found;
  throw new CommandFailure(`There is no person "${name}"; see: svc people list`);
}

interface Invitation {
  readonly person: Person;
  readonly link: { readonly url: string; readonly expires_at: string };
  readonly is_mailed: boolean;
}

/** The link alone is the result: it can be passed on. */
function showLink({ output }: Context, { json }: Values, invitation: Invitation): void {
  const { person, link: made, is_mailed: isMailed } = invitation;
  if (json === true) {
    output.result(JSON.stringify(invitation));
    return;
  }
  output.result(made.url);
  const mailed = isMailed ? ' It was sent by mail, too.' : '';
  output.note(`The link signs in as ${person.email} once, until ${made.expires_at}.${mailed}`);
}

const heads = ['email', 'name', 'state', 'roles', 'last sign-in'];

const cells = ({ email, display_name: name, roles, ...one }: Person) => [
  email,
  name,
  one.is_active ? 'active' : 'deactivated',
  roles.map(({ environment, role: given }) => `${environment}:${given}`).join(' ') || '-',
  one.last_sign_in_at ?? '-',
];
