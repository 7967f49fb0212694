import type { Client, LogMessage, LogOperation } from '#client/index.ts';
import { printable } from '#kernel/printable.ts';
import { isoMillis, systemClock } from '#kernel/time.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { usageError } from '../exit.ts';
import { entriesOf, uncheckedWords } from '../options.ts';
import { inEnvironment, limitOf, listOptions, serviceHelp, sinceOf } from '../service-command.ts';

const options = {
  ...listOptions,
  follow: ['-f, --follow', 'messages from now on, one line each (with --json one document each)'],
  level: [
    '--level <levels>',
    'with --follow: debug, info, warn or error, with commas between them',
  ],
  state: [
    '--state <states>',
    'running, success, failed, timeout or cancelled, with commas between them',
  ],
  type: ['--type <types>', 'such as sync or action:run, with commas between them'],
  sync: ['-s, --sync <name>', 'only of this function'],
  search: ['--search <text>', 'whose text contains this'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

/** They filter stored entries, or need whole operations. */
const notFollowed = ['state', 'type', 'search', 'since', 'limit'] as const;

/** The data of an event of the live log. */
type FollowedMessage = LogMessage & Pick<LogOperation, 'connectionId' | 'syncConfigName'>;

export const logs = defineCommand({
  name: 'logs',
  usage: '[operation]',
  summary: 'Search the log of an environment, or follow it',
  about: `Lists operations (runs, proxy calls, authorizations, webhooks) of the last 24 hours, newest first; with the id of
one its messages. With --follow it shows messages as they are written, until Ctrl-C.`,
  options,
  help: `${serviceHelp}

Examples
  svc logs -e dev --state failed
  svc logs -e dev --type sync --connection acme --since 2026-01-31T08:00:00Z
  svc logs 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc logs -e dev --follow --level warn,error`,

  async run({ positionals, values }, context) {
    const [operationId] = positionals;
    checkTogether(values);
    await inEnvironment(context, values, async (client) => {
      if (values.follow === true) await follow(context, client, values, operationId);
      else if (operationId === undefined) await listOperations(context, client, values);
      else await listMessages(context, client, values, operationId);
    });
  },
});

function checkTogether(values: Values): void {
  if (values.follow !== true) {
    if (values.level === undefined) return;
    throw usageError('--level requires --follow');
  }
  const refused = notFollowed.find((name) => values[name] !== undefined);
  if (refused === undefined) return;
  throw usageError(`--${refused} cannot be combined with --follow`);
}

/** Until Ctrl-C, the regular end. */
async function follow(
  context: Context,
  client: Client,
  { level, sync, integration, connection, json }: Values,
  operationId: string | undefined,
): Promise<void> {
  const query = {
    levels: uncheckedWords(level),
    syncs: entriesOf(sync),
    integrations: entriesOf(integration),
    connections: entriesOf(connection),
    operationId,
  };
  const { output } = context;
  using stopping = stopOnInterrupt(context);
  output.note('Following the log; Ctrl-C ends it.');
  const { signal } = stopping;
  for await (const { data } of client.events('GET /logs/tail', { query, signal })) {
    if (json === true) output.result(JSON.stringify(data));
    // The API guarantees the shape.
    else output.result(followedLine(data as FollowedMessage));
  }
}

function followedLine({ createdAt, level, message, ...ref }: FollowedMessage): string {
  const where = [ref.syncConfigName, ref.connectionId].filter(Boolean).join(' of ');
  return `${createdAt}  ${level.padEnd(5)}  ${where === '' ? '' : `${where}  `}${printable(message)}`;
}

async function listOperations(context: Context, client: Client, values: Values): Promise<void> {
  const body = {
    ...conditionsOf(values),
    states: uncheckedWords(values.state),
    types: entriesOf(values.type),
    integrations: entriesOf(values.integration),
    connections: entriesOf(values.connection),
    syncs: entriesOf(values.sync),
  };
  const { data: found } = await client.request('POST /logs/operations', { body });
  const heads = ['operation', 'type', 'state', 'connection', 'time', 'message'];
  await showRows(context, values.json, found, heads, (one) => [
    one.id,
    [one.operation.type, one.operation.action].filter(Boolean).join(':'),
    one.state,
    one.connectionId ?? '',
    one.createdAt,
    one.message,
  ]);
}

async function listMessages(
  context: Context,
  client: Client,
  values: Values,
  operationId: string,
): Promise<void> {
  const body = { operationId, ...conditionsOf(values) };
  const { data: found } = await client.request('POST /logs/messages', { body });
  await showRows(context, values.json, found, ['time', 'level', 'message'], (one) => [
    one.createdAt,
    one.level,
    one.message,
  ]);
}

function conditionsOf({ search, limit, since }: Values) {
  const from = sinceOf(since);
  const period = from === undefined ? undefined : { from, to: isoMillis(systemClock.now()) };
  return { search, limit: limitOf(limit), period };
}
