import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { checkHeaders, checkQuery } from '#http/check-parts.ts';
import { errorAt } from '#http/define-route.ts';
import { functionName, modelName } from '#http/fields.ts';
import { content } from '#http/responses.ts';
import { openSse } from '#http/sse.ts';
import type { StreamCall, StreamRoute } from '#http/stream-route.ts';
import { EnvironmentSlots } from '#kernel/environment-slots.ts';
import { isOutage } from '#kernel/errors.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { limits } from '#kernel/limits.ts';
import { isStillAuthorized } from '#modules/access/console-sessions/handlers.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import type { Stream } from '../model/stream.ts';
import { requireModel } from '../read/declared-models.ts';
import type { RecordReader } from '../read/reader.ts';
import type { RecordsServices } from '../services.ts';
import { refuseLost } from './lost-cursor.ts';
import { connectionHeaders, streamOf } from './routes.ts';

/** How often each stream polls, which costs no query if the head is cached. */
const askedEveryMs = 500;
const pageRecords = 100;

const query = z.strictObject({
  model: modelName,
  variant: functionName.optional(),
  cursor: z.string().min(1).max(1000).optional(),
});
const headers = connectionHeaders.extend({ 'last-event-id': z.string().max(1000).optional() });

const slots = new EnvironmentSlots({
  total: limits.recordStreamsMax,
  perEnvironment: limits.environmentRecordStreamsMax,
  code: 'too_many_request',
  noun: 'streams of records',
});

/**
 * The records of a model as they are modified: events named `record` with a record each, in the order of pages. The id
 * is the record's cursor: sent back as `Last-Event-ID`, the stream resumes directly after it. `head` marks the end of
 * the current records.
 */
export const changeFeedRoute: StreamRoute<RecordsServices> = {
  prefix: '/records/stream',
  path: '/records/stream',
  methods: ['GET'],
  credential: 'environment',
  scopes: ['environment:records:read'],
  summary: 'Follow the records of a model.',
  description: 'Server-sent events: one for each modified record, in order, from `cursor` on.',
  query,
  headers,
  answers: {
    200: content(
      'Events named `record`, one for each modified record, and `head` where there is no more for now.',
      'text/event-stream',
    ),
  },
  errors: [
    'invalid_headers',
    'invalid_query_params',
    'invalid_cursor_value',
    errorAt(400, 'unknown_connection'),
  ],
  async handle(call) {
    const request = checkQuery(query, call.target.split('?', 2)[1] ?? '');
    const sent = checkHeaders(headers, call.request.headers);
    const { caller, services } = call;
    const stream = await streamOf(services, caller, sent, request);
    const cursor = sent['last-event-id'] ?? request.cursor ?? null;
    // An invalid cursor or model is refused before the stream starts.
    if (cursor !== null) {
      refuseLost(services, stream, cursor);
      await services.records.reader.positionOf(stream, cursor);
    }
    await requireModel(services, stream);
    using _slot = slots.take(caller.environmentUid);
    await follow(call, stream, cursor);
  },
};

/** The fields used of a page; its records are forwarded unchanged. */
interface ReadPage {
  readonly records: readonly { readonly _svc_metadata: { readonly cursor: string } }[];
  readonly next_cursor: string | null;
}

async function follow(
  call: StreamCall<RecordsServices>,
  stream: Stream,
  start: string | null,
): Promise<void> {
  const { reader } = call.services.records;
  const signal = AbortSignal.any([call.signal, call.closing]);
  using events = openSse(call, signal);
  let cursor = start;
  let isHeadTold = false;
  // A deleted key, session or connection ends the stream; the next request gets the error.
  while (!signal.aborted && isStillThere(call, stream)) {
    const page = await pageAfter(reader, stream, cursor);
    for (const record of page?.records ?? []) {
      cursor = record._svc_metadata.cursor;
      await events.send({ id: cursor, event: 'record', data: record });
      isHeadTold = false;
    }
    if (page !== null && page.next_cursor !== null) continue;
    if (page !== null && !isHeadTold) {
      await events.send({ id: cursor ?? '', event: 'head', data: { cursor } });
      isHeadTold = true;
    }
    await wait(askedEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

/** Null while the tables are temporarily unavailable. */
async function pageAfter(
  reader: RecordReader,
  stream: Stream,
  cursor: string | null,
): Promise<ReadPage | null> {
  const all = { modifiedAfter: null, actions: null, ids: null, limit: pageRecords };
  try {
    const { body } = await reader.page({ stream, cursor, ...all });
    return parseRawJson(Buffer.from(body).toString()) as ReadPage;
  } catch (error) {
    if (isOutage(error)) return null;
    throw error;
  }
}

function isStillThere(
  { services, caller }: StreamCall<RecordsServices>,
  { integration, connectionId, connectionUid }: Stream,
): boolean {
  const { control } = services;
  const connection = findConnection(control, caller.environmentUid, integration, connectionId);
  return isStillAuthorized(services, caller) && connection?.uid === connectionUid;
}
