import { z } from 'zod';
import { checkHeaders, checkQuery } from '#http/check-parts.ts';
import type { AnyRoute, Caller } from '#http/define-route.ts';
import { content, json } from '#http/responses.ts';
import type { StreamRoute } from '#http/stream-route.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import { requireConnectionNamed } from '#modules/connections/connections/known-connections.ts';
import { defineRoute, type OperationsServices } from '#modules/operations/services.ts';
import type { ChangeFilter } from './fields.ts';
import { filterFields } from './filter.ts';
import {
  cursorField,
  feedSlots,
  feedStart,
  fromField,
  pageBytes,
  pageFields,
  pageShape,
} from './page-fields.ts';
import { changesPage } from './page.ts';
import { feedCursor, positionOf, startOf, type FeedPosition } from './position.ts';
import type { FeedQuery } from './read-changes.ts';
import { streamChanges, type StreamFormat } from './stream.ts';

const scopes = ['environment:changes:read'] as const;

const fields = {
  ...filterFields,
  cursor: cursorField
    .optional()
    .describe('Position from an earlier response; it takes precedence over `from`.'),
  from: fromField
    .default('start')
    .describe(
      'Where to begin without a cursor: `start` with the state of every record, `end` with what comes from now on, or a time (RFC 3339) within the last 28 days.',
    ),
};

type Start = z.output<z.ZodObject<typeof fields>>;

/** @throws GatewayError `invalid_cursor_value`, `log_unavailable` */
function placed(
  { log }: OperationsServices,
  { cursor, from }: Pick<Start, 'cursor' | 'from'>,
): Promise<FeedPosition> {
  return cursor === undefined ? startOf(log, feedStart(from)) : positionOf(log, cursor);
}

/** @throws GatewayError `forbidden` */
function feedQuery(caller: Caller, filter: ChangeFilter): FeedQuery {
  requireConnectionNamed(caller, filter.connection_id);
  return { environmentUid: caller.environmentUid, filter };
}

const page = defineRoute({
  method: 'GET',
  path: '/changes',
  credential: 'environment',
  scopes,
  summary: 'Read the changes of all records.',
  description:
    'Of the environment, or of an integration, connection or model: every change of the last 28 days, and before that the last one of each record. With `wait_s` the response waits for a change.',
  query: z.strictObject({
    ...fields,
    ...pageFields,
  }),
  answers: { 200: json('The changes.', pageShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services, signal }) {
    const { cursor, from, limit, wait_s: waitS, ...filter } = query;
    const wanted = feedQuery(caller, filter);
    using _slot = feedSlots.take(caller.environmentUid);
    const position = await placed(services, { cursor, from });
    const options = { limit, waitMs: waitS * 1000, signal };
    const read = await changesPage(services, wanted, position, options);
    return { status: 200, body: pageBytes(read, feedCursor(read.position)) };
  },
});

const streamQuery = z.strictObject(fields);
const streamHeaders = z.object({
  'last-event-id': cursorField.optional(),
  accept: z.string().optional(),
});

/** Server-sent events, or a line each; both resume by the cursor that follows the changes. */
export const changesStreamRoute: StreamRoute<OperationsServices> = {
  prefix: '/changes/stream',
  path: '/changes/stream',
  methods: ['GET'],
  credential: 'environment',
  scopes,
  summary: 'Follow the changes of all records.',
  description:
    'As `GET /changes`, without end: events named `change`, and after those of a batch one named `cursor`, whose id resumes the stream as `Last-Event-ID`. With `Accept: application/x-ndjson` a line each; a line that has only `cursor` is the position behind the lines before it.',
  query: streamQuery,
  headers: streamHeaders,
  answers: {
    200: content('The changes, as they come.', 'text/event-stream', 'application/x-ndjson'),
  },
  errors: ['invalid_headers', 'invalid_query_params', 'invalid_cursor_value'],
  async handle(call) {
    const { caller, services, request } = call;
    const { cursor, from, ...filter } = checkQuery(streamQuery, call.target.split('?', 2)[1] ?? '');
    const sent = checkHeaders(streamHeaders, request.headers);
    const wanted = feedQuery(caller, filter);
    using _slot = feedSlots.take(caller.environmentUid);
    const position = await placed(services, { cursor: sent['last-event-id'] ?? cursor, from });
    const isAuthorized = () => isStillAuthorized(services, caller);
    await streamChanges(call, wanted, position, formatOf(sent.accept), isAuthorized);
  },
};

const formatOf = (accept = ''): StreamFormat =>
  accept.includes('application/x-ndjson') ? 'application/x-ndjson' : 'text/event-stream';

export const changeRoutes: readonly AnyRoute[] = [page];
