import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import { isoMillis, systemClock } from '../../kernel/time.ts';
import type { Command } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { parseCommand } from '../options.ts';
import { inEnvironment, serviceHelp, serviceOptions, showRows } from '../service-command.ts';

const options = {
  ...serviceOptions,
  state: { type: 'string' },
  type: { type: 'string' },
  integration: { type: 'string', short: 'i' },
  connection: { type: 'string' },
  sync: { type: 'string', short: 's' },
  search: { type: 'string' },
  since: { type: 'string' },
  limit: { type: 'string' },
} as const;

/** Mirrors an operation of `POST /logs/operations`. */
interface ShownOperation {
  readonly id: string;
  readonly operation: { readonly type: string; readonly action: string | null };
  readonly state: string;
  readonly message: string;
  readonly connectionId: string | null;
  readonly createdAt: string;
}

/** Mirrors a message of `POST /logs/messages`. */
interface ShownMessage {
  readonly level: string;
  readonly message: string;
  readonly createdAt: string;
}

export const logs: Command = {
  name: 'logs',
  usage: '[operation]',
  summary: 'Search the log of an environment, or read one operation',
  help: `Lists operations (runs, proxy calls, authorizations, webhooks), newest first; with the id of one its
messages.

Options
  -e, --environment <name>   environment of the service
      --state <states>       running, success, failed, timeout or cancelled, with commas between them
      --type <types>         such as sync or action:run, with commas between them
  -i, --integration <id>     only of this integration
      --connection <id>      only of this connection
  -s, --sync <name>          only of this function
      --search <text>        whose text holds this
      --since <date>         from this time on (the last 24 hours)
      --limit <n>            so many at most (100)
      --json                 the entries as JSON on stdout

${serviceHelp}

Examples
  svc logs -e dev --state failed
  svc logs -e dev --type sync --connection acme --since 2026-01-31T08:00:00Z
  svc logs 0192f0c1-7a3b-7c4d-8e5f-001122334455 -e dev`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, options);
    const [operationId, ...others] = positionals;
    if (others.length > 0) throw new CommandFailure('logs takes one operation', { isUsage: true });
    const common = {
      ...(values.search === undefined ? {} : { search: values.search }),
      ...(values.limit === undefined ? {} : { limit: Number(values.limit) }),
      ...periodOf(values.since),
    };
    await inEnvironment(context, values, async (client) => {
      if (operationId !== undefined) {
        const body = { operationId, ...common };
        const answer = dataOf(await client.call('POST', '/logs/messages', body));
        const found = answer as unknown as ShownMessage[];
        showRows(context, values.json, found, ['time', 'level', 'message'], (one) => [
          one.createdAt,
          one.level,
          one.message,
        ]);
        return;
      }
      const body = {
        ...common,
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
    });
  },
};

/** The entries of an answer; their shape is the service's promise. */
const dataOf = (answer: Json): Json => (answer as JsonObject)['data'] ?? [];

const listOf = (name: string, given: string | undefined): JsonObject =>
  given === undefined ? {} : { [name]: given.split(',').map((part) => part.trim()) };

function periodOf(since: string | undefined): JsonObject {
  if (since === undefined) return {};
  const from = new Date(since);
  if (Number.isNaN(from.getTime())) throw new CommandFailure(`--since is no date: "${since}"`);
  return { period: { from: from.toISOString(), to: isoMillis(systemClock.now()) } };
}
