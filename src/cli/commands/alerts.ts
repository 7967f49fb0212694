import type { AlertDestination, Client, Input } from '#client/index.ts';
import { confirm } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { textOption } from '../json-option.ts';
import { uncheckedWord, uncheckedWords } from '../options.ts';
import { inEnvironment, serviceHelp, serviceOptions } from '../service-command.ts';

const options = {
  target: ['--target <target>', 'change: the URL or address'],
  name: ['--name <name>', 'create, change: the name that lists show'],
  alerts: ['--alerts <list>', 'create, change: only these, with commas; "all" for every one'],
  yes: ['-y, --yes', 'delete: do not ask'],
  ...serviceOptions,
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

interface Task {
  readonly context: Context;
  readonly client: Client;
  readonly values: Values;
  readonly operands: readonly string[];
}

export const alerts = defineCommand({
  name: 'alerts',
  usage: '',
  summary: 'Show alerts, and manage where they are sent',
  about: 'A target that is a URL with a token is better read from a file: @file.',
  words: {
    list: 'the state of each alert',
    destinations: 'where alerts are sent, oldest first; URLs without their paths',
    'create <type> <target>': 'add a destination: webhook <url>, slack <url> or email <address>',
    'change <id>': 'change the options that are given',
    'enable <id>': 'send alerts to it',
    'disable <id>': 'keep it, and send nothing to it',
    'delete <id>': 'remove a destination',
    'test <id>': 'send a test; fails if it is not delivered',
  },
  defaultWord: 'list',
  options,
  help: `${serviceHelp}

Examples
  svc alerts list -e dev
  svc alerts create slack @slack-url.txt --alerts connections_failing,dead_letters -e dev
  svc alerts create email team@example.com --name Team -e dev
  svc alerts test 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev`,

  async run({ word, positionals: operands, values }, context) {
    await inEnvironment(context, values, (client) =>
      tasks[word]({ context, client, values, operands }),
    );
  },
});

const tasks = {
  list,
  destinations,
  create,
  change: (task: Task) => change(task, changesOf(task)),
  enable: (task: Task) => change(task, { enabled: true }),
  disable: (task: Task) => change(task, { enabled: false }),
  delete: remove,
  test,
};

async function list({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /alerts');
  const heads = ['alert', 'state', 'since', 'notified', 'count', 'of'];
  await showRows(context, values.json, data, heads, (one) => [
    one.alert,
    one.firing ? 'firing' : 'ok',
    one.since ?? '-',
    one.notified_at ?? '-',
    one.count,
    one.subjects.join(', ') || '-',
  ]);
}

async function destinations({ context, client, values }: Task): Promise<void> {
  const { data } = await client.request('GET /alert-destinations');
  await showRows(context, values.json, data, heads, cells);
}

async function create({ context, client, values, operands }: Task): Promise<void> {
  const [type, target = ''] = operands;
  const { data } = await client.request('POST /alert-destinations', {
    body: {
      type: uncheckedWord(type),
      target: textOption(context, 'target', target),
      ...settingsOf(values),
    },
  });
  await show(context, values, data);
}

function changesOf({ context, values }: Task) {
  const { target } = values;
  const changes = {
    ...(target === undefined ? {} : { target: textOption(context, 'target', target) }),
    ...settingsOf(values),
  };
  if (Object.keys(changes).length > 0) return changes;
  throw usageError('Name a change: --target, --name or --alerts');
}

async function change(
  { context, client, values, operands: [id = ''] }: Task,
  body: Input<'PATCH /alert-destinations/{id}'>['body'],
): Promise<void> {
  const { data } = await client.request('PATCH /alert-destinations/{id}', { params: { id }, body });
  await show(context, values, data);
}

async function remove({ context, client, values, operands: [id = ''] }: Task): Promise<void> {
  await confirm(context, values, `Delete the destination ${id}?`);
  const answer = await client.request('DELETE /alert-destinations/{id}', { params: { id } });
  context.output.result(values.json === true ? JSON.stringify(answer) : `Deleted ${id}`);
}

async function test({ context, client, values, operands: [id = ''] }: Task): Promise<void> {
  const { data } = await client.request('POST /alert-destinations/{id}/test', { params: { id } });
  if (values.json === true) context.output.result(JSON.stringify(data));
  else if (data.delivered) context.output.result('Delivered the test');
  if (data.delivered) return;
  const reason = data.error ?? `status ${data.status ?? 'unknown'}`;
  throw new CommandFailure(`The test was not delivered: ${reason}`);
}

/** The given options as fields; the empty object without any. */
const settingsOf = ({ name, alerts: chosen }: Values) => ({
  ...(name === undefined ? {} : { display_name: name }),
  ...(chosen === undefined ? {} : { alerts: chosen === 'all' ? null : uncheckedWords(chosen) }),
});

async function show(
  context: Context,
  { json }: Values,
  destination: AlertDestination,
): Promise<void> {
  if (json === true) context.output.result(JSON.stringify(destination));
  else await showRows(context, false, [destination], heads, cells);
}

const heads = ['destination', 'type', 'target', 'state', 'alerts', 'name'];

const cells = ({ id, type, target, enabled, alerts: kinds, ...one }: AlertDestination) => [
  id,
  type,
  target,
  enabled ? 'enabled' : 'disabled',
  kinds?.join(',') ?? 'all',
  one.display_name || '-',
];
