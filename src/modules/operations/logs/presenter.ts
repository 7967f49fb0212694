import { z } from 'zod';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { representation } from '#http/representation.ts';
import { anyJson, data, timestamp } from '#http/responses.ts';
import { parseWrittenJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { dayMs, isoMillis } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { connectionRef } from '#modules/connections/connections/entity.ts';
import type { EndUser } from '#modules/connections/connections/state.ts';
import { integrationRef } from '#modules/connections/integrations/entity.ts';
import type { Integration } from '#modules/connections/integrations/integration.ts';
import type { LogEntry } from './events.ts';
import type { EntryRow, OperationRow } from './rows.ts';

const orNull = (text: string): string | null => (text === '' ? null : text);
const time = (micros: number): string => isoMillis(Math.floor(micros / 1000));

/** The request to a provider, in an operation or a message. */
const facts = {
  error: z
    .strictObject({ name: z.string().describe('Name of the error.'), message: z.string() })
    .optional()
    .describe('The error, where it failed.'),
  request: z
    .strictObject({
      method: z.string(),
      url: z.string().describe('Address of the request, without secrets.'),
      headers: z.strictObject({}),
    })
    .optional()
    .describe('The request to the provider.'),
  response: z
    .strictObject({
      code: z.int().describe('Status of the HTTP response.'),
      headers: z.strictObject({}),
    })
    .optional()
    .describe('The response of the provider.'),
  retry: z.strictObject({ attempt: z.int() }).optional().describe('The retry that this is.'),
  meta: anyJson.optional().describe('Further facts.'),
};
type Facts = z.output<z.ZodObject<typeof facts, z.core.$strict>>;
type EntryFacts = Facts & { readonly durationMs?: number | undefined };

const level = z.string().meta({ examples: ['info'] });
const state = z.string().meta({ examples: ['success'] });

const operationKind = z.strictObject({
  type: z.string().meta({ description: 'Type of the operation.', examples: ['sync'] }),
  action: z.string().meta({ description: 'Action of the operation.', examples: ['run'] }),
});

const subject = (what: string) =>
  z.string().nullable().describe(`${what}; null where none takes part.`);

/** An operation and the names of its subjects. */
interface OperationShown extends Facts {
  readonly row: OperationRow;
  readonly environment: Environment | null;
  readonly integration: Integration | null;
  readonly connectionId: string | null;
  readonly endUser: EndUser | null;
  /** Microseconds. */
  readonly startedAt: number;
  readonly endedAt: number | null;
}

const operation = representation<OperationShown>()({
  id: [z.string().describe('Id of the operation.'), ({ row }) => row.operation_id],
  operation: [operationKind.describe('Kind of the operation.'), ({ row }) => operationOf(row.type)],
  state: [state.describe('State of the operation.'), ({ row }) => row.last_state],
  level: [level, ({ row }) => row.last_level],
  message: [z.string(), ({ row }) => row.text],
  source: [z.literal('internal').describe('Writer of the operation.'), () => 'internal' as const],
  environmentId: [
    z.int().nullable().describe('Number of the environment; null once it is deleted.'),
    ({ environment }) => environment?.id ?? null,
  ],
  environmentName: [
    z.string().nullable().describe('Name of the environment; null once it is deleted.'),
    ({ environment }) => environment?.name ?? null,
  ],
  providerName: [
    subject('Name of the provider'),
    ({ integration }) => integration?.provider ?? null,
  ],
  integrationId: [
    subject('Unique key of the integration'),
    ({ row }) => orNull(row.of_integration),
  ],
  integrationName: [
    subject('Display name of the integration'),
    ({ integration, row }) => integration?.displayName ?? orNull(row.of_integration),
  ],
  connectionId: subject('Id of the connection'),
  connectionName: [subject('Name of the connection'), ({ connectionId }) => connectionId],
  endUserId: [
    z.string().nullable().describe('Id of the end user; null where none is known.'),
    ({ endUser }) => endUser?.id ?? null,
  ],
  endUserName: [
    z.string().nullable().describe('Name of the end user; null where none is known.'),
    ({ endUser }) => endUser?.displayName ?? null,
  ],
  syncConfigId: [subject('Id of the function'), ({ row }) => orNull(row.of_function)],
  syncConfigName: [subject('Name of the function'), ({ row }) => orNull(row.of_function)],
  runId: [subject('Id of the run'), ({ row }) => orNull(row.of_run)],
  ...facts,
  createdAt: [timestamp, ({ startedAt }) => time(startedAt)],
  updatedAt: [timestamp, ({ row }) => time(Number(row.updated))],
  startedAt: [
    timestamp.describe('Time of the start (RFC 3339).'),
    ({ startedAt }) => time(startedAt),
  ],
  endedAt: [
    timestamp.nullable().describe('Time of the end (RFC 3339); null before it.'),
    ({ endedAt }) => (endedAt === null ? null : time(endedAt)),
  ],
  expiresAt: [
    timestamp.describe('Time of its deletion (RFC 3339).'),
    ({ startedAt }) => isoMillis(Math.floor(startedAt / 1000) + limits.logsKeptDays * dayMs),
  ],
  durationMs: [
    z.int().nullable().describe('Duration in milliseconds; null before the end.'),
    ({ startedAt, endedAt }) =>
      endedAt === null ? null : Math.max(0, Math.round((endedAt - startedAt) / 1000)),
  ],
});

const message = representation<EntryFacts & { readonly row: EntryRow }>()({
  id: [z.string().describe('Id of the message.'), ({ row }) => row.id],
  parentId: [z.string().describe('Id of the operation.'), ({ row }) => row.parent],
  source: [
    z.string().meta({
      description: 'Writer of the message: the function, or the gateway.',
      examples: ['user'],
    }),
    ({ row }) => row.writer,
  ],
  level: [level, ({ row }) => row.severity],
  type: [
    z.enum(['log', 'http']).describe('Whether it is a line of text or an HTTP request.'),
    ({ request }) => (request === undefined ? 'log' : 'http'),
  ],
  message: [z.string(), ({ row }) => row.text],
  context: [
    z
      .enum(['script', 'proxy', 'webhook', 'auth'])
      .optional()
      .describe('Part of the gateway that wrote it.'),
    ({ row }) => (row.type === '' ? undefined : contextOf(row.type)),
  ],
  state: [
    state.optional().describe('State of the operation after the message.'),
    ({ row }) => orNull(row.status) ?? undefined,
  ],
  ...facts,
  durationMs: z.number().optional(),
  createdAt: [timestamp, ({ row }) => time(Number(row.happened))],
});

const operationShape = operation.schema.meta({ id: 'LogOperation' });

export const oneOperationShape = data(operationShape);

export const operationsShape = z.strictObject({
  data: z.array(operationShape),
  pagination: z.strictObject({
    total: z.int(),
    cursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  }),
});

export const messagesShape = z.strictObject({
  data: z.array(message.schema.meta({ id: 'LogMessage' })),
  pagination: z.strictObject({
    total: z.int(),
    cursorBefore: z.string().nullable(),
    cursorAfter: z.string().nullable(),
  }),
});

/**
 * An operation as the API shows it (docs/reference/http.md#logs-and-runs); with the current names.
 * @param showsConnection false hides ids of connections from keys that may not list them
 */
export function presentOperation(
  row: OperationRow,
  environmentUid: string,
  { control: { view } }: { readonly control: ControlPlane },
  showsConnection: boolean,
) {
  const { of_integration: integrationKey, of_connection: connectionId } = row;
  const connection = view.find(connectionRef(environmentUid, integrationKey, connectionId));
  return operation.of({
    ...factsOf(row.last_state, row),
    row,
    environment: view.find(environmentRef(environmentUid)),
    integration: view.find(integrationRef(environmentUid, integrationKey)),
    connectionId: showsConnection ? orNull(row.of_connection) : null,
    endUser: showsConnection ? (connection?.endUser ?? null) : null,
    startedAt: Number(row.started),
    endedAt: row.last_state === 'running' ? null : Number(row.updated),
  });
}

function operationOf(type: string) {
  const [kind = '', action = 'run'] = type.split(':');
  return { type: kind, action };
}

/** A message of an operation. */
export const presentMessage = (row: EntryRow) => message.of({ ...factsOf(row.status, row), row });

/** The same message from the log, for the live tail. */
export function presentEntry(entry: LogEntry) {
  const { integration, connection_id: connectionId, operation_type: type } = entry;
  const shown = presentMessage({
    log_offset: '',
    id: entry.event_id,
    parent: entry.operation_id,
    happened: String(entry.occurred_at),
    type: type ?? '',
    status: entry.state ?? '',
    severity: entry.level,
    writer: entry.source ?? 'internal',
    text: entry.message,
    more: entry.context ?? '',
  });
  return {
    ...shown,
    operation: type === null ? null : operationOf(type),
    integrationId: integration,
    connectionId,
    syncConfigName: entry.function,
  };
}

const contexts = ['proxy', 'webhook', 'auth'] as const;

const contextOf = (type: string): (typeof contexts)[number] | 'script' =>
  contexts.find((context) => type.startsWith(`${context}:`)) ?? 'script';

/** Request fields of the context become fields of their own, the others go into `meta`. */
function factsOf(
  state: string,
  { text: message, more }: { readonly text: string; readonly more: string },
): EntryFacts {
  const error = state === 'failed' ? { name: 'Error', message } : undefined;
  if (more === '') return { error };
  const context = parseWrittenJson(more) as Json;
  if (!isJsonObject(context)) return { error, meta: context };
  const { method, url, status, durationMs, attempts, ...meta } = context;
  if (typeof method !== 'string' || typeof url !== 'string') return { error, meta: context };
  return {
    error,
    request: { method, url, headers: {} },
    response: typeof status === 'number' ? { code: status, headers: {} } : undefined,
    retry: typeof attempts === 'number' ? { attempt: attempts } : undefined,
    meta: Object.keys(meta).length === 0 ? undefined : meta,
    durationMs: typeof durationMs === 'number' ? durationMs : undefined,
  };
}
