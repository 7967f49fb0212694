import { z } from 'zod';
import { anyJson, data, timestamp } from '../../../http/responses.ts';
import { limits } from '../../../kernel/limits.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../kernel/stable-json.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { Connection } from '../../connections/connections/state.ts';
import type { Environment } from '../../access/environments/state.ts';
import type { Integration } from '../../connections/integrations/state.ts';
import type { LogEntry } from './events.ts';
import type { EntryRow, OperationRow } from './rows.ts';
import type { OperationsServices } from '../services.ts';

const failure = z.strictObject({
  name: z.string().describe('Name of the error.'),
  message: z.string(),
});

/** The request to a provider, in an operation or a message. */
const facts = {
  error: failure.optional().describe('The error, where it failed.'),
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

const level = z.string().meta({ examples: ['info'] });
const state = z.string().meta({ examples: ['success'] });

const operationShape = z
  .strictObject({
    id: z.string().describe('Id of the operation.'),
    operation: z
      .strictObject({
        type: z.string().meta({ description: 'Type of the operation.', examples: ['sync'] }),
        action: z.string().meta({ description: 'Action of the operation.', examples: ['run'] }),
      })
      .describe('Kind of the operation.'),
    state: state.describe('State of the operation.'),
    level,
    message: z.string(),
    source: z.literal('internal').describe('Writer of the operation.'),
    environmentId: z
      .int()
      .nullable()
      .describe('Number of the environment; null once it is deleted.'),
    environmentName: z
      .string()
      .nullable()
      .describe('Name of the environment; null once it is deleted.'),
    providerName: z
      .string()
      .nullable()
      .describe('Name of the provider; null where none takes part.'),
    integrationId: z
      .string()
      .nullable()
      .describe('Unique key of the integration; null where none takes part.'),
    integrationName: z
      .string()
      .nullable()
      .describe('Display name of the integration; null where none takes part.'),
    connectionId: z
      .string()
      .nullable()
      .describe('Id of the connection; null where none takes part.'),
    connectionName: z
      .string()
      .nullable()
      .describe('Name of the connection; null where none takes part.'),
    endUserId: z.string().nullable().describe('Id of the end user; null where none is known.'),
    endUserName: z.string().nullable().describe('Name of the end user; null where none is known.'),
    syncConfigId: z.string().nullable().describe('Id of the function; null where none takes part.'),
    syncConfigName: z
      .string()
      .nullable()
      .describe('Name of the function; null where none takes part.'),
    runId: z.string().nullable().describe('Id of the run; null where none takes part.'),
    ...facts,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: timestamp.describe('Time of the start (RFC 3339).'),
    endedAt: timestamp.nullable().describe('Time of the end (RFC 3339); null before it.'),
    expiresAt: timestamp.describe('Time of its deletion (RFC 3339).'),
    durationMs: z.int().nullable().describe('Duration in milliseconds; null before the end.'),
  })
  .meta({ id: 'LogOperation' });

const messageShape = z
  .strictObject({
    id: z.string().describe('Id of the message.'),
    parentId: z.string().describe('Id of the operation.'),
    source: z.string().meta({
      description: 'Writer of the message: the function, or the gateway.',
      examples: ['user'],
    }),
    level,
    type: z.enum(['log', 'http']).describe('Whether it is a line of text or an HTTP request.'),
    message: z.string(),
    context: z
      .enum(['script', 'proxy', 'webhook', 'auth'])
      .optional()
      .describe('Part of the gateway that wrote it.'),
    state: state.optional().describe('State of the operation after the message.'),
    ...facts,
    durationMs: z.number().optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'LogMessage' });

export const oneOperationShape = data(operationShape);

export const operationsShape = z.strictObject({
  data: z.array(operationShape),
  pagination: z.strictObject({
    total: z.int(),
    cursor: z.string().nullable().describe('Cursor of the next page; null at the end.'),
  }),
});

export const messagesShape = z.strictObject({
  data: z.array(messageShape),
  pagination: z.strictObject({
    total: z.int(),
    cursorBefore: z.string().nullable(),
    cursorAfter: z.string().nullable(),
  }),
});

const dayMs = 86_400_000;
const orNull = (text: string): string | null => (text === '' ? null : text);
const time = (micros: number): string => isoMillis(Math.floor(micros / 1000));

/**
 * An operation as the API shows it (docs/reference/http.md#logs-and-runs); with the current names.
 * @param showsConnection false hides ids of connections from keys that may not list them
 */
export function presentOperation(
  row: OperationRow,
  environmentUid: string,
  { control: { view } }: Pick<OperationsServices, 'control'>,
  showsConnection: boolean,
) {
  const environment = view.find<Environment>('environment', [environmentUid]);
  const path = [environmentUid, row.of_integration];
  const integration = view.find<Integration>('integration', path);
  const connection = view.find<Connection>('connection', [...path, row.of_connection]);
  const endUser = showsConnection ? (connection?.endUser ?? null) : null;
  const connectionId = showsConnection ? orNull(row.of_connection) : null;
  const startedAt = Number(row.started);
  const endedAt = row.last_state === 'running' ? null : Number(row.updated);
  const facts = factsOf(row.more);
  return {
    id: row.operation_id,
    operation: operationOf(row.type),
    state: row.last_state,
    level: row.last_level,
    message: row.text,
    source: 'internal',
    environmentId: environment?.id ?? null,
    environmentName: environment?.name ?? null,
    providerName: integration?.provider ?? null,
    integrationId: orNull(row.of_integration),
    integrationName: integration?.displayName ?? orNull(row.of_integration),
    connectionId,
    connectionName: connectionId,
    endUserId: endUser?.id ?? null,
    endUserName: endUser?.displayName ?? null,
    syncConfigId: orNull(row.of_function),
    syncConfigName: orNull(row.of_function),
    runId: orNull(row.of_run),
    ...(row.last_state === 'failed' ? { error: { name: 'Error', message: row.text } } : {}),
    ...facts,
    createdAt: time(startedAt),
    updatedAt: time(Number(row.updated)),
    startedAt: time(startedAt),
    endedAt: endedAt === null ? null : time(endedAt),
    expiresAt: isoMillis(Math.floor(startedAt / 1000) + limits.logsKeptDays * dayMs),
    durationMs: endedAt === null ? null : Math.max(0, Math.round((endedAt - startedAt) / 1000)),
  };
}

function operationOf(type: string) {
  const [kind = '', action = 'run'] = type.split(':');
  return { type: kind, action };
}

/** A message of an operation. */
export function presentMessage(row: EntryRow) {
  const facts = factsOf(row.more);
  return {
    id: row.id,
    parentId: row.parent,
    source: row.writer,
    level: row.severity,
    type: 'request' in facts ? 'http' : 'log',
    message: row.text,
    ...(row.type === '' ? {} : { context: contextOf(row.type) }),
    ...(row.status === '' ? {} : { state: row.status }),
    ...(row.status === 'failed' ? { error: { name: 'Error', message: row.text } } : {}),
    ...facts,
    createdAt: time(Number(row.happened)),
  };
}

/** The same message from the log, for the live tail. */
export function presentEntry(entry: LogEntry) {
  const { integration, connection_id: connectionId, operation_type: type } = entry;
  const message = presentMessage({
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
    ...message,
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
function factsOf(more: string): {
  readonly request?: JsonObject;
  readonly response?: JsonObject;
  readonly retry?: JsonObject;
  readonly meta?: Json;
  readonly durationMs?: number;
} {
  if (more === '') return {};
  const context = JSON.parse(more) as Json;
  if (!isJsonObject(context)) return { meta: context };
  const { method, url, status, durationMs, attempts, ...meta } = context;
  if (typeof method !== 'string' || typeof url !== 'string') return { meta: context };
  return {
    request: { method, url, headers: {} },
    ...(typeof status === 'number' ? { response: { code: status, headers: {} } } : {}),
    ...(typeof attempts === 'number' ? { retry: { attempt: attempts } } : {}),
    ...(Object.keys(meta).length === 0 ? {} : { meta }),
    ...(typeof durationMs === 'number' ? { durationMs } : {}),
  };
}
