import { z } from 'zod';
import { type AnyRoute, errorAt } from '#http/define-route.ts';
import { functionName, listOf, modelName, text, wholeNumber } from '#http/fields.ts';
import { json } from '#http/responses.ts';
import { limits } from '#kernel/limits.ts';
import { pageAsOf } from '../history/as-of.ts';
import { historyOf } from '../history/record-history.ts';
import { parseTimestamp } from '../model/parse-timestamp.ts';
import { requireModel } from '../read/declared-models.ts';
import type { PageQuery } from '../read/reader.ts';
import { defineRoute } from '../services.ts';
import { historyShape, pageShape, prunedShape } from './presenter.ts';
import { connectionHeaders, streamOf } from './stream-of-request.ts';

const headers = connectionHeaders;

const cursor = text(1, 1000);

const timestamp = z
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
  modified_after: timestamp
    .optional()
    .describe('Only records modified at or after this time (RFC 3339).'),
  /** Deprecated name of `modified_after`. */
  delta: timestamp.optional().describe('Deprecated name of `modified_after`; it takes precedence.'),
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
    const request: PageQuery = {
      stream,
      cursor: query.cursor ?? null,
      modifiedAfter: query.delta ?? query.modified_after ?? null,
      actions: query.filter ?? null,
      ids: query.ids ?? null,
      limit: query.limit,
    };
    const page =
      query.as_of === undefined
        ? await services.records.reader.page(request)
        : await pageAsOf(services, request, query.as_of);
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
