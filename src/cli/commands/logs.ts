import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import { isoMillis, systemClock } from '../../kernel/time.ts';
import type { ApiClient } from '../client.ts';
import { stopOnInterrupt, type Command, type Context } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import {
  inEnvironment,
  listHelp,
  listOptions,
  queryOf,
  serviceHelp,
  showRows,
  sinceOf,
} from '../service-command.ts';

const options = {
  ...listOptions,
  follow: { type: 'boolean', short: 'f' },
  level: { type: 'string' },
  state: { type: 'string' },
  type: { type: 'string' },
  sync: { type: 'string', short: 's' },
  search: { type: 'string' },
} as const;
type Values = ReturnType<typeof parseCommand<typeof options>>['values'];

/** They filter stored entries, or need whole operations. */
const notFollowed = ['state', 'type', 'search', 'since', 'limit'] as const;

/** @see src/modules/operations/logs/shapes.ts */
interface ShownOperation {
  readonly id: string;
  readonly operation: { readonly type: string; readonly action: string | null };
  readonly state: string;
  readonly message: string;
  readonly connectionId: string | null;
  readonly createdAt: string;
}

/** @see src/modules/operations/logs/shapes.ts */
interface ShownMessage {
  readonly level: string;
  readonly message: string;
  readonly createdAt: string;
}

/** @see src/modules/operations/logs/tail.ts */
interface FollowedMessage extends ShownMessage {
  readonly connectionId: string | null;
  readonly syncConfigName: string | null;
}

export const logs: Command = {
  name: 'logs',
  usage: '[operation]',
  summary: 'Search the log of an environment, or follow it',
  help: `Lists operations (runs, proxy calls, authorizations, webhooks) of the last 24 hours, newest first; with the id of
one its messages. With --follow it shows messages as they are written, until Ctrl-C.

Options
  -f, --follow               messages from now on, one line each (with --json one document each)
      --level <levels>       with --follow: debug, info, warn or error, with commas between them
      --state <states>       running, success, failed, timeout or cancelled, with commas between them
      --type <types>         such as sync or action:run, with commas between them
  -s, --sync <name>          only of this function
      --search <text>        whose text contains this
${listHelp}

${serviceHelp}

Examples
  svc logs -e dev --state failed
  svc logs -e dev --type sync --connection acme --since 2026-01-31T08:00:00Z
  svc logs 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev
  svc logs -e dev --follow --level warn,error`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [operationId, ...others] = positionals;
    if (others.length > 0) throw new CommandFailure('logs takes one operation', { isUsage: true });
    checkTogether(values);
    await inEnvironment(context, values, async (client) => {
      if (values.follow === true) await follow(context, client, values, operationId);
      else if (operationId === undefined) await listOperations(context, client, values);
      else await listMessages(context, client, values, operationId);
    });
  },
};

function checkTogether(values: Values): void {
  if (values.follow !== true) {
    if (values.level === undefined) return;
    throw new CommandFailure('--level goes with --follow', { isUsage: true });
  }
  const refused = notFollowed.find((name) => values[name] !== undefined);
  if (refused === undefined) return;
  throw new CommandFailure(`--${refused} does not go with --follow`, { isUsage: true });
}

/** Until Ctrl-C, the regular end. */
async function follow(
  context: Context,
  client: ApiClient,
  { level, sync, integration, connection, json }: Values,
  operationId: string | undefined,
): Promise<void> {
  const query = queryOf({
    levels: level,
    syncs: sync,
    integrations: integration,
    connections: connection,
    operationId,
  });
  const { output } = context;
  using stopping = stopOnInterrupt(context);
  output.note('Following the log; Ctrl-C ends it.');
  for await (const event of client.events(`/logs/tail${query}`, stopping.signal)) {
    if (json === true) output.result(JSON.stringify(event));
    // The API guarantees the shape.
    else output.result(followedLine(event as unknown as FollowedMessage));
  }
}

function followedLine({ createdAt, level, message, ...ref }: FollowedMessage): string {
  const where = [ref.syncConfigName, ref.connectionId].filter(Boolean).join(' of ');
  return `${createdAt}  ${level.padEnd(5)}  ${where === '' ? '' : `${where}  `}${message}`;
}

async function listOperations(context: Context, client: ApiClient, values: Values): Promise<void> {
  const body = {
    ...conditionsOf(values),
    ...listOf('states', values.state),
    ...listOf('types', values.type),
    ...listOf('integrations', values.integration),
    ...listOf('connections', values.connection),
    ...listOf('syncs', values.sync),
  };
  const answer = dataOf(await client.call('POST', '/logs/operations', body));
  const found = answer as unknown as ShownOperation[];
  const heads = ['operation', 'type', 'state', 'connection', 'time', 'message'];
  showRows(context, values.json, found, heads, (one) => [
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
  client: ApiClient,
  values: Values,
  operationId: string,
): Promise<void> {
  const body = { operationId, ...conditionsOf(values) };
  const answer = dataOf(await client.call('POST', '/logs/messages', body));
  const found = answer as unknown as ShownMessage[];
  showRows(context, values.json, found, ['time', 'level', 'message'], (one) => [
    one.createdAt,
    one.level,
    one.message,
  ]);
}

function conditionsOf({ search, limit, since }: Values): JsonObject {
  const from = sinceOf(since);
  return {
    ...(search === undefined ? {} : { search }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
    ...(from === undefined ? {} : { period: { from, to: isoMillis(systemClock.now()) } }),
  };
}

/** The entries of an answer; the API guarantees their shape. */
const dataOf = (answer: Json): Json => (answer as JsonObject)['data'] ?? [];

const listOf = (name: string, input: string | undefined): JsonObject =>
  input === undefined ? {} : { [name]: input.split(',').map((part) => part.trim()) };
