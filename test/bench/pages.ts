/** Pages, polls and walks over HTTP, and the bare query beside them: `pages.ts <plain|sealed> [records]`. */
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { decodeCursor } from '#modules/records/model/cursor.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { streamTable } from '#modules/records/read/queries.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import { percentile, report, round, seconds, withFolder } from './measure.ts';
import { decided, newOrigin, readable, startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';

const [mode = 'plain', count = '200000'] = process.argv.slice(2);
const total = Number(count);
const batchSize = 1000;
const agent = new Agent({ connections: 1, pipelining: 1 });

/** All records, then half of them again with other contents. */
async function fill(node: BenchNode, stream: Stream): Promise<void> {
  const { writer } = node.running.services.records;
  const origin = newOrigin();
  const save = (first: number, step: number, version: number) =>
    writer.save(
      stream,
      origin,
      Array.from({ length: batchSize }, (_, at) => contact(first + at * step, version)),
    );
  for (let first = 0; first < total; first += batchSize) await save(first, 1, 0);
  for (let first = 0; first < total; first += 2 * batchSize) await save(first, 2, 1);
  await readable(node, await decided(node, stream, origin));
}

interface Got {
  readonly ms: number;
  readonly text: string;
}

async function get(
  node: BenchNode,
  stream: Stream,
  query: Readonly<Record<string, string>>,
): Promise<Got> {
  const url = `${node.url}/records?${new URLSearchParams({ model: stream.model, ...query }).toString()}`;
  const headers = {
    authorization: `Bearer ${node.key}`,
    'provider-config-key': stream.integration,
    'connection-id': stream.connectionId,
  };
  const started = performance.now();
  const { statusCode, body } = await request(url, { headers, dispatcher: agent });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
  return { ms: performance.now() - started, text };
}

interface PageBody {
  readonly records: readonly { readonly _svc_metadata: { readonly cursor: string } }[];
  readonly next_cursor: string | null;
}

/** What was read ahead for the walk before has come by then: neither the first page nor the bare query shares with it. */
const restMs = 100;

/** The query of a page, but that its rows are folded into one: nothing is made of them. */
async function bareQuery(node: BenchNode, stream: Stream, after: number, limit: number) {
  const { services, tables } = node.running;
  const partitions = await services.log.partitions(recordsTopic);
  const { number, partition } = streamTable(stream, partitions, recordTables(1));
  await tables.queryRows(
    `SELECT max(cityHash64(position, record_id, version, first_seen_at, modified_at, last_action, payload)) FROM (
       SELECT * FROM ${recordTables(1).records} FINAL
       WHERE log_partition = {partition:UInt16} AND stream_id = {number:UInt64} AND position > {after:UInt64}
       ORDER BY stream_id, position LIMIT ${limit + 1})
     SETTINGS max_threads = 1, max_block_size = ${limit < 128 ? 128 : 1024}, use_query_condition_cache = 0`,
    { partition, number, after },
    'page',
  );
}

/**
 * The bare query of the tables, the first page of a walk that begins at the cursor, each after a rest, and pages 2 to
 * 21, which are read ahead.
 */
async function pages(node: BenchNode, stream: Stream, limit: number, cursor: string) {
  const bare: number[] = [];
  const first: number[] = [];
  const next: number[] = [];
  const { position } = decodeCursor(cursor);
  for (let sample = 0; sample < 12; sample += 1) {
    await wait(restMs);
    bare.push(1000 * (await seconds(() => bareQuery(node, stream, position, limit + sample))));
    await wait(restMs);
    let at: string | null = cursor;
    // Another place each time: a walk that somebody has begun would already be read ahead.
    for (let step = 0; step <= sample && at !== null; step += 1) {
      const { ms, text } = await get(node, stream, { limit: String(limit + sample), cursor: at });
      if (step === 0) first.push(ms);
      at = (JSON.parse(text) as PageBody).next_cursor;
    }
    for (let page = 0; page < 20 && at !== null; page += 1) {
      const { ms, text } = await get(node, stream, { limit: String(limit + sample), cursor: at });
      next.push(ms);
      at = (JSON.parse(text) as PageBody).next_cursor;
    }
  }
  const median = (samples: readonly number[]): number => round(percentile(samples, 50));
  return {
    bare: median(bare),
    first: median(first),
    next: median(next),
    nextP99: round(percentile(next, 99)),
  };
}

/** Reads the whole stream once and says where its start, middle and end are. */
async function walk(node: BenchNode, stream: Stream) {
  const cursors: string[] = [];
  let records = 0;
  const took = await seconds(async () => {
    for (
      let cursor: string | null = null, isFirst = true;
      isFirst || cursor !== null;
      isFirst = false
    ) {
      const page: Got = await get(node, stream, {
        limit: '1000',
        ...(cursor === null ? {} : { cursor }),
      });
      // The end of the text has the cursor: the rest is not parsed, as the walk is measured.
      const found = /"next_cursor":(?:"([^"]*)"|null)\}$/.exec(page.text);
      cursor = found?.[1] ?? null;
      records += cursor === null ? (JSON.parse(page.text) as PageBody).records.length : 1000;
      if (cursor !== null) cursors.push(cursor);
    }
  });
  if (records !== total) throw new Error(`walked ${records} of ${total} records`);
  return { perSecond: Math.round(records / took), cursors };
}

/** What an application does after each webhook: reads from its cursor to the head, where one to ten records changed. */
async function atHead(node: BenchNode, stream: Stream, head: string) {
  const { writer } = node.running.services.records;
  const origin = newOrigin();
  const samples: number[] = [];
  let cursor = head;
  for (let sample = 0; sample < 200; sample += 1) {
    const changed = Array.from({ length: 1 + (sample % 10) }, (_, at) =>
      contact(sample * 10 + at, 2 + sample),
    );
    await writer.save(stream, origin, changed);
    await readable(node, await decided(node, stream, origin));
    const { ms, text } = await get(node, stream, { cursor });
    samples.push(ms);
    const { records } = JSON.parse(text) as PageBody;
    if (records.length !== changed.length) throw new Error(`read ${records.length} at the head`);
    cursor = records.at(-1)?._svc_metadata.cursor ?? cursor;
  }
  return samples;
}

await withFolder(async (folder) => {
  await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain');
  const stream = await node.newStream();
  await fill(node, stream);
  const figures: Record<string, number> = {};
  await walk(node, stream);
  const { perSecond, cursors } = await walk(node, stream);
  figures['walk_records_per_s'] = perSecond;
  const places = {
    start: cursors[0],
    middle: cursors[Math.floor(cursors.length / 2)],
    end: cursors.at(-30),
  };
  for (const [place, cursor] of Object.entries(places)) {
    for (const limit of [100, 1000]) {
      const { bare, first, next, nextP99 } = await pages(node, stream, limit, cursor ?? '');
      figures[`bare_query_${limit}_${place}_ms_p50`] = bare;
      figures[`first_page_${limit}_${place}_ms_p50`] = first;
      figures[`page_${limit}_${place}_ms_p50`] = next;
      figures[`page_${limit}_${place}_ms_p99`] = nextP99;
    }
  }
  const last = JSON.parse(
    (await get(node, stream, { limit: '1000', cursor: cursors.at(-1) ?? '' })).text,
  ) as PageBody;
  const head = last.records.at(-1)?._svc_metadata.cursor ?? '';
  const polls: number[] = [];
  for (let poll = 0; poll < 500; poll += 1)
    polls.push((await get(node, stream, { cursor: head })).ms);
  figures['poll_ms_p50'] = round(percentile(polls, 50), 3);
  figures['poll_ms_p99'] = round(percentile(polls, 99), 3);
  const changed = await atHead(node, stream, head);
  figures['page_at_head_ms_p50'] = round(percentile(changed, 50), 3);
  figures['page_at_head_ms_p99'] = round(percentile(changed, 99), 3);
  await agent.close();
  report(figures);
});
