import { z } from 'zod';
import { type AnyRoute, errorAt, type Caller } from '#http/define-route.ts';
import {
  functionName,
  listOf,
  modelName,
  text,
  wholeNumber,
  connectionId,
  integrationKey,
} from '#http/fields.ts';
import { json, timestamp, data } from '#http/responses.ts';
import type { ConnectionUid, EnvironmentUid } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { isoMicrosOrNull } from '#kernel/time.ts';
import { requireEnvironmentById } from '#modules/access/environments/queries.ts';
import {
  defaultRetention,
  presentRetention,
  type Retention,
} from '#modules/access/environments/retention.ts';
import { requireConnection } from '#modules/connections/connections/queries.ts';
import { pageAsOf } from '../history/as-of.ts';
import { historyOf } from '../history/record-history.ts';
import { parseTimestamp } from '../model/parse-timestamp.ts';
import { baseVariant, type Stream } from '../model/stream.ts';
import { requireModel } from '../read/declared-models.ts';
import type { PageQuery } from '../read/reader.ts';
import { defineRoute, type RecordsServices } from '../services.ts';
import type { RetentionDue } from '../write/retention-preview.ts';
import { refuseLost } from './lost-cursor.ts';

/** Both name the connection on the routes of its records. */
export const connectionHeaders = z.object({
  'connection-id': connectionId,
  'provider-config-key': integrationKey,
});

/** @throws GatewayError `unknown_connection` (400 here, docs/reference/errors.md#codes-with-other-statuses) */
export async function streamOf(
  { control }: RecordsServices,
  { environmentUid }: Caller,
  sent: z.output<typeof connectionHeaders>,
  { model, variant }: { readonly model: string; readonly variant?: string | undefined },
): Promise<Stream> {
  const connection = await requireConnection(
    control,
    environmentUid,
    sent['provider-config-key'],
    sent['connection-id'],
    { status: 400, integrationCode: 'unknown_connection' },
  );
  return {
    // Uids come from the key and the view, so that they are valid.
    environmentUid: environmentUid as EnvironmentUid,
    connectionUid: connection.uid as ConnectionUid,
    integration: connection.integrationKey as Stream['integration'],
    connectionId: connection.connectionId as Stream['connectionId'],
    model,
    variant: variant ?? baseVariant,
  };
}

/** ISO 8601 with microseconds and offset. */
const micros = timestamp.meta({ examples: ['2026-02-01T08:00:00.000000+00:00'] });

const metadataShape = z
  .strictObject({
    first_seen_at: micros,
    last_modified_at: micros,
    last_action: z
      .enum(['ADDED', 'UPDATED', 'DELETED'])
      .describe('Last modification of the record.'),
    deleted_at: micros.nullable(),
    pruned_at: micros.optional(),
    cursor: z.string().describe('Position after this record.'),
  })
  .meta({ id: 'RecordMetadata' });

/** The fields of the model, and the record's metadata. */
const recordShape = z
  .looseObject({
    id: z
      .string()
      .meta({ description: 'Id of the record, which the function saved.', examples: ['c-1'] }),
    _svc_metadata: metadataShape.describe('Times, state and cursor of the record.'),
  })
  .meta({ id: 'Record' });

const pageShape = z.strictObject({
  records: z.array(recordShape).describe('The records of the page.'),
  next_cursor: z.string().nullable().meta({ description: 'Null: there is no more for now.' }),
});

const prunedShape = z.strictObject({
  count: z.int().describe('Number of records that lost their payload.'),
  has_more: z.boolean(),
});

const changeShape = z
  .strictObject({
    action: z
      .enum(['added', 'updated', 'deleted', 'pruned', 'restored'])
      .describe('What the change did.'),
    at: micros,
    version: z
      .int()
      .nullable()
      .meta({ description: 'The number of the change in the life of the record.' }),
    cursor: z
      .string()
      .nullable()
      .describe('Cursor after the change; null where the log no longer has it.'),
    actor: z
      .string()
      .nullable()
      .meta({ examples: ['run:0192f0c1-7a3b-7c4d-8e5f-001122334455'] }),
    run_id: z.string().nullable(),
    sync: z
      .string()
      .nullable()
      .describe('Sync whose run wrote the change; null for other writers.'),
    first_seen_at: micros.nullable(),
    last_modified_at: micros,
    deleted_at: micros.nullable(),
    pruned_at: micros.nullable(),
    payload_state: z
      .enum(['kept', 'none', 'pruned', 'compacted', 'unreadable'])
      .describe('What is left of the payload of the change.'),
    payload: z
      .looseObject({})
      .nullable()
      .meta({ description: 'The record as the change left it.' }),
  })
  .meta({ id: 'RecordChange' });

const historyShape = z.strictObject({
  id: z.string().describe('Id of the record.'),
  changes: z.array(changeShape).describe('The changes, newest first.'),
  next_cursor: z.string().nullable().meta({ description: 'Null: these are all.' }),
  earlier_changes: z.int().nullable().meta({
    description: 'Of the last page: how many changes before these have left the log.',
  }),
});

const headers = connectionHeaders;

const cursor = text(1, 1000);

const timestampQuery = z
  .string()
  .max(64)
  .refine((value) => parseTimestamp(value) !== null, 'Send an RFC 3339 time with Z or an offset.');

const filter = z.string().transform((value, context) => {
  const actions = new Set<'ADDED' | 'UPDATED' | 'DELETED'>();
  for (const word of value.split(',')) {
    const action = z.enum(['ADDED', 'UPDATED', 'DELETED']).safeParse(word.trim().toUpperCase());
    if (action.success) actions.add(action.data);
    else context.addIssue({ code: 'custom', message: 'Send added, updated or deleted.' });
  }
  return [...actions];
});

const listQuery = z.strictObject({
  model: modelName,
  variant: functionName.optional(),
  limit: wholeNumber(1, limits.recordsPageSizeMax).default(limits.recordsPageSizeDefault),
  cursor: cursor.optional(),
  modified_after: timestampQuery
    .optional()
    .describe('Only records modified at or after this time (RFC 3339).'),
  /** Deprecated name of `modified_after`. */
  delta: timestampQuery
    .optional()
    .describe('Deprecated name of `modified_after`; it takes precedence.'),
  filter: filter
    .optional()
    .describe(
      '`added`, `updated`, `deleted`, or a list with commas: the last action of the records.',
    ),
  ids: listOf(text(1, 256))
    .pipe(z.array(z.string()).max(limits.recordsIdsMax))
    .optional()
    .describe('Only records with one of these ids.'),
  /** A time, or a cursor for its time. */
  as_of: cursor
    .optional()
    .describe('The records as they stood at a time (RFC 3339), or at the time of a cursor.'),
});

const list = defineRoute({
  method: 'GET',
  path: '/records',
  credential: 'environment',
  scopes: ['environment:records:read'],
  summary: 'List records in the order of their modification.',
  description:
    'A reader that follows `next_cursor` sees each modification once that no later one has overwritten. `next_cursor` is null only when nothing readable follows.',
  query: listQuery,
  headers,
  answers: { 200: json('A page.', pageShape) },
  errors: [errorAt(400, 'unknown_connection'), 'invalid_cursor_value', 'history_gone'],
  async handle({ query, headers: sent, caller, services }) {
    const stream = await streamOf(services, caller, sent, query);
    const { cursor, as_of: asOf } = query;
    if (cursor !== undefined) refuseLost(services, stream, cursor);
    if (asOf !== undefined && parseTimestamp(asOf) === null) refuseLost(services, stream, asOf);
    const request: PageQuery = {
      stream,
      cursor: cursor ?? null,
      modifiedAfter: query.delta ?? query.modified_after ?? null,
      actions: query.filter ?? null,
      ids: query.ids ?? null,
      limit: query.limit,
    };
    const page =
      asOf === undefined
        ? await services.records.reader.page(request)
        : await pageAsOf(services, request, asOf);
    const isAtEnd = 'hasStream' in page && page.hasStream;
    if (page.records === 0 && !isAtEnd) await requireModel(services, stream);
    return { status: 200, body: page.body };
  },
});

const history = defineRoute({
  method: 'GET',
  path: '/records/history',
  credential: 'environment',
  scopes: ['environment:records:read'],
  summary: 'List the changes of a record, newest first.',
  description: 'Each with its actor, its run, and the payload if the log still has it.',
  query: z.strictObject({
    model: modelName,
    variant: functionName.optional(),
    id: text(1, limits.recordIdCharsMax).describe('Id of the record.'),
    cursor: cursor.optional(),
    limit: wholeNumber(1, limits.historyPageSizeMax).default(limits.recordsPageSizeDefault),
  }),
  headers,
  answers: { 200: json('A page of changes.', historyShape) },
  errors: [errorAt(400, 'unknown_connection'), 'invalid_cursor_value', 'not_found'],
  async handle({ query, headers: sent, caller, services }) {
    const stream = await streamOf(services, caller, sent, query);
    const { id: recordId, limit } = query;
    const request = { stream, recordId, limit, cursor: query.cursor ?? null };
    return { status: 200, body: await historyOf(services, request) };
  },
});

const prune = defineRoute({
  method: 'PATCH',
  path: '/records/prune',
  credential: 'environment',
  scopes: ['environment:records:write'],
  summary: 'Prune the payloads of records up to a cursor.',
  description: 'Ids and metadata stay. A later save restores the payload.',
  headers,
  body: z.strictObject({
    model: modelName,
    variant: functionName.optional(),
    until_cursor: cursor.describe('Cursor of the last record to prune.'),
    limit: z
      .number()
      .int()
      .min(1)
      .max(limits.recordsPageSizeMax)
      .default(limits.pruneRecordsDefault),
  }),
  answers: { 200: json('How many lost their payload.', prunedShape) },
  errors: [errorAt(400, 'unknown_connection'), 'invalid_cursor_value'],
  async handle({ body, headers: sent, caller, services }) {
    const { reader, writer } = services.records;
    const stream = await streamOf(services, caller, sent, body);
    refuseLost(services, stream, body.until_cursor);
    const position = await reader.positionOf(stream, body.until_cursor);
    await requireModel(services, stream, 'invalid_body');
    const { count, lastPosition } = await writer.prune(stream, caller.actor, {
      position,
      limit: body.limit,
    });
    return { status: 200, body: { count, has_more: count > 0 && lastPosition !== position } };
  },
});

export const recordRoutes: readonly AnyRoute[] = [list, prune, history];

const counted = z.strictObject({ records: z.int(), streams: z.int() });

/** Effect of retention now; the first hundred of the streams. */
const dueShape = data(
  z.strictObject({
    prune_after_days: z.int(),
    delete_after_days: z.int(),
    clock_is_ahead: z
      .boolean()
      .describe(
        'Whether the clock of the owner is over a day ahead of the log; retention then stops.',
      ),
    prune: counted.describe('What is due to lose its payload.'),
    delete: counted.describe('What is due to be deleted.'),
    streams: z
      .array(
        z.strictObject({
          action: z.enum(['prune', 'delete']).describe('What retention would do.'),
          records: z.int(),
          provider_config_key: z.string(),
          connection_id: z.string(),
          model: z.string(),
          variant: z.string(),
          last_run_at: z
            .string()
            .nullable()
            .describe('Time at which a run last used the stream (RFC 3339); null if none has.'),
        }),
      )
      .describe('Streams that are due; the first hundred.'),
  }),
);

function presentDue(retention: Retention, due: RetentionDue) {
  const { isClockTrusted, prune, delete: gone, streams } = due;
  return {
    ...presentRetention(retention),
    clock_is_ahead: !isClockTrusted,
    prune,
    delete: gone,
    streams: streams.map(({ action, records, integration, connectionId, ...stream }) => ({
      action,
      records,
      provider_config_key: integration,
      connection_id: connectionId,
      model: stream.model,
      variant: stream.variant,
      last_run_at: isoMicrosOrNull(stream.lastRunAt),
    })),
  };
}

const previewRetention = defineRoute({
  method: 'GET',
  path: '/environments/{environmentId}/retention',
  // A command asks the owners.
  writes: true,
  credential: 'account',
  scopes: ['account:environments:read'],
  summary: 'Preview what retention would prune and delete.',
  description: 'Nothing is changed.',
  params: z.strictObject({ environmentId: wholeNumber(0, Number.MAX_SAFE_INTEGER) }),
  answers: { 200: json('What would go.', dueShape) },
  errors: ['not_found'],
  async handle({ params, services }) {
    const environment = await requireEnvironmentById(services.control, params.environmentId);
    const retention = environment.retention ?? defaultRetention;
    const due = await services.records.writer.previewRetention(environment.uid);
    return { status: 200, body: { data: presentDue(retention, due) } };
  },
});

export const retentionRoutes: readonly AnyRoute[] = [previewRetention];
