import type { Client, LogMessage, LogOperation } from '#client/index.ts';
import { printable } from '#kernel/printable.ts';
import { isoMillis, minuteMs, systemClock } from '#kernel/time.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import { stopOnInterrupt, type Context } from '../context.ts';
import { CommandFailure, usageError } from '../exit.ts';
import { entriesOf, uncheckedWords, wholeNumber } from '../options.ts';
import {
  configuredIntegrations,
  inEnvironment,
  limitOf,
  listOptions,
  serviceHelp,
  sinceOf,
} from '../service-command.ts';

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
  minutes: ['--minutes <n>', 'keep: for how long (60); 0 ends it'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

/** They filter stored entries, or need whole operations. */
const notFollowed = ['state', 'type', 'search', 'since', 'limit'] as const;

/** The data of an event of the live log. */
type FollowedMessage = LogMessage & Pick<LogOperation, 'connectionId' | 'syncConfigName'>;

export const logs = defineCommand({
  name: 'logs',
  usage: '[operation]',
  summary: 'Search the log of an environment, follow it, or keep lines of every level',
  about: `Lists operations (runs, proxy calls, authorizations, webhooks) of the last 24 hours, newest first. With the id
of an operation it lists the messages of that operation. With --follow it shows messages as they are written, until Ctrl-C.`,
  words: {
    'keep [function...]':
      'keep lines of every level for some minutes: of the named functions, or of all',
  },
  options,
  help: `${serviceHelp}

Examples
  svc logs -e dev --state failed
  svc logs -e dev --type sync --connection acme --since 2026-01-31T08:00:00Z
  svc logs 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc logs -e dev --follow --level warn,error
  svc logs keep -e dev
  svc logs keep contacts -e dev --minutes 15`,

  async run({ word, positionals, values }, context) {
    // Empty without a subcommand.
    const subcommand: string = word;
    if (subcommand === 'keep') {
      await inEnvironment(context, values, (client) => keep(context, client, positionals, values));
      return;
    }
    const [operationId] = positionals;
    checkTogether(values);
    await inEnvironment(context, values, async (client) => {
      if (values.follow === true) await follow(context, client, values, operationId);
      else if (operationId === undefined) await listOperations(context, client, values);
      else await listMessages(context, client, values, operationId);
    });
  },
});

async function keep(
  { output }: Context,
  client: Client,
  names: readonly string[],
  { minutes: wanted, integration, json }: Values,
): Promise<void> {
  const minutes = wanted === undefined ? 60 : wholeNumber('minutes', wanted);
  const found = names.length === 0 ? [] : await functionsNamed(client, names, integration);
  const functions = found.length === 0 ? undefined : found;
  const answer = await client.request('POST /logs/keep', { body: { minutes, functions } });
  if (json === true) {
    output.result(JSON.stringify(answer.data));
    return;
  }
  const subject = names.length === 0 ? 'All functions' : names.join(', ');
  const until = isoMillis(systemClock.now() + minutes * minuteMs);
  output.result(
    minutes === 0
      ? `${subject}: log lines from the level of SVC_LOGGER_LEVEL on`
      : `${subject}: log lines of every level until ${until}`,
  );
}

/** @throws CommandFailure if one is not deployed, or several integrations have it */
async function functionsNamed(
  client: Client,
  names: readonly string[],
  integration: string | undefined,
) {
  const configured = await configuredIntegrations(client);
  const deployed = configured.flatMap(({ providerConfigKey: integration_id, ...one }) =>
    [...one.syncs, ...one.actions, ...one['on-events'], ...one['on-changes']].map(
      ({ name, type }) => ({
        integration_id,
        type,
        name,
      }),
    ),
  );
  return names.flatMap((name) => {
    const named = deployed.filter(
      (one) =>
        one.name === name && (integration === undefined || one.integration_id === integration),
    );
    if (named.length === 0) throw new CommandFailure(`No function "${name}" is deployed`);
    const keys = [...new Set(named.map((one) => one.integration_id))];
    if (keys.length > 1) {
      throw usageError(
        `${keys.join(' and ')} have a function ${name}: choose one by --integration`,
      );
    }
    return named;
  });
}

function checkTogether(values: Values): void {
  if (values.minutes !== undefined) throw usageError('--minutes is an option of keep');
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
