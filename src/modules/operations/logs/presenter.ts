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

const failure = z.strictObject({ name: z.string(), message: z.string() });

/** The request to a provider, in an operation or a message. */
const facts = {
  error: failure.optional(),
  request: z
    .strictObject({ method: z.string(), url: z.string(), headers: z.strictObject({}) })
    .optional(),
  response: z.strictObject({ code: z.int(), headers: z.strictObject({}) }).optional(),
  retry: z.strictObject({ attempt: z.int() }).optional(),
  meta: anyJson.optional(),
};

const level = z.string().meta({ examples: ['info'] });
const state = z.string().meta({ examples: ['success'] });

const operationShape = z
  .strictObject({
    id: z.string(),
    operation: z.strictObject({
      type: z.string().meta({ examples: ['sync'] }),
      action: z.string().meta({ examples: ['run'] }),
    }),
    state,
    level,
    message: z.string(),
    source: z.literal('internal'),
    environmentId: z.int().nullable(),
    environmentName: z.string().nullable(),
    providerName: z.string().nullable(),
    integrationId: z.string().nullable(),
    integrationName: z.string().nullable(),
    connectionId: z.string().nullable(),
    connectionName: z.string().nullable(),
    endUserId: z.string().nullable(),
    endUserName: z.string().nullable(),
    syncConfigId: z.string().nullable(),
    syncConfigName: z.string().nullable(),
    runId: z.string().nullable(),
    ...facts,
    createdAt: timestamp,
    updatedAt: timestamp,
    startedAt: timestamp,
    endedAt: timestamp.nullable(),
    expiresAt: timestamp,
    durationMs: z.int().nullable(),
  })
  .meta({ id: 'LogOperation' });

const messageShape = z
  .strictObject({
    id: z.string(),
    parentId: z.string(),
    source: z.string().meta({ examples: ['user'] }),
    level,
    type: z.enum(['log', 'http']),
    message: z.string(),
    context: z.enum(['script', 'proxy', 'webhook', 'auth']).optional(),
    state: state.optional(),
    ...facts,
    durationMs: z.number().optional(),
    createdAt: timestamp,
  })
  .meta({ id: 'LogMessage' });

export const oneOperationShape = data(operationShape);

export const operationsShape = z.strictObject({
  data: z.array(operationShape),
  pagination: z.strictObject({ total: z.int(), cursor: z.string().nullable() }),
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
