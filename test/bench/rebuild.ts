/**
 * A rebuild while records are written and read: `rebuild.ts <plain|sealed> [records] [pace percent]`. Its rate beside the
 * one at which `@clickhouse/client` alone inserts the same rows afterwards, in a process of its own.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'undici';
import {
  findProjection,
  orderProjection,
  rebuildProjection,
  verifyProjection,
} from '#modules/operations/projections/handlers.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { verificationState } from '#streams/projector/projection-state.ts';
import { percentile, report, round, seconds, withFolder, type Figures } from './measure.ts';
import { decided, newOrigin, readable, startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';

const [mode = 'plain', count = '2000000', pace = '100'] = process.argv.slice(2);
const total = Number(count);
const streamsCount = 4;
const perStream = total / streamsCount;
const batchSize = 1000;
const name = 'records';
const options = { actor: 'system' };
const agent = new Agent({ connections: 1 });

async function fill(node: BenchNode, stream: Stream, at: number): Promise<void> {
  const { writer } = node.running.services.records;
  const origin = newOrigin();
  for (let first = 0; first < perStream; first += batchSize) {
    const base = at * perStream + first;
    await writer.save(
      stream,
      origin,
      Array.from({ length: batchSize }, (_, n) => contact(base + n)),
    );
  }
  await readable(node, await decided(node, stream, origin));
}

interface Load {
  isOver: boolean;
  saved: number;
  readonly pagesMs: number[];
}

/** Fifty records, five times a second. */
async function write(node: BenchNode, stream: Stream, load: Load): Promise<void> {
  const origin = newOrigin();
  for (let version = 1; !load.isOver; version += 1) {
    const records = Array.from({ length: 50 }, (_, n) =>
      contact((version * 50 + n) % perStream, version),
    );
    await node.running.services.records.writer.save(stream, origin, records);
    load.saved += records.length;
    await sleep(200);
  }
}

/** Pages of 100 from start to end, again and again, twenty a second. An answer but 200 ends the benchmark. */
async function read(node: BenchNode, stream: Stream, load: Load): Promise<void> {
  const headers = {
    authorization: `Bearer ${node.key}`,
    'provider-config-key': stream.integration,
    'connection-id': stream.connectionId,
  };
  for (let cursor: string | null = null; !load.isOver;) {
    const query = new URLSearchParams({ model: stream.model, limit: '100' });
    if (cursor !== null) query.set('cursor', cursor);
    const started = performance.now();
    const url = `${node.url}/records?${query.toString()}`;
    const { statusCode, body } = await request(url, { headers, dispatcher: agent });
    const text = await body.text();
    load.pagesMs.push(performance.now() - started);
    if (statusCode !== 200) throw new Error(`${statusCode}: ${text}`);
    cursor = (JSON.parse(text) as { next_cursor: string | null }).next_cursor;
    await sleep(50);
  }
}

/** Seconds until the new generation has come to where the topic ended at the begin, and the offsets until there. */
async function build(node: BenchNode): Promise<{ took: number; offsets: number }> {
  const { services } = node.running;
  const ends = new Map<number, number>();
  let offsets = 0;
  const took = await seconds(async () => {
    await rebuildProjection(services, name, { pacePercent: Number(pace) }, options);
    for (;;) {
      const { generations } = await findProjection(services, name);
      const partitions = generations[1]?.partitions ?? [];
      for (const { partition, start, end } of partitions) {
        if (ends.has(partition)) continue;
        ends.set(partition, end);
        offsets += end - start;
      }
      if (partitions.every(({ partition, position }) => position >= (ends.get(partition) ?? 0)))
        return;
      await sleep(100);
    }
  });
  return { took, offsets };
}

async function until(node: BenchNode, isSo: (beside: { state: string; found: string }) => boolean) {
  for (;;) {
    const { projection } = await findProjection(node.running.services, name);
    const beside = projection.generations.find(({ number }) => number !== projection.active);
    const { verification = null, state = '' } = beside ?? {};
    const found =
      verification === null ? '' : verificationState(verification, projection.partitions);
    if (isSo({ state, found })) return found;
    await sleep(200);
  }
}

async function rebuild(folder: string): Promise<Figures> {
  await using node = await startNode(folder, mode === 'sealed' ? 'sealed' : 'plain');
  const { services } = node.running;
  const streams = await Promise.all(Array.from({ length: streamsCount }, () => node.newStream()));
  await Promise.all(streams.map((stream, at) => fill(node, stream, at)));
  const [written, readFrom] = [streams[0], streams[1]];
  if (written === undefined || readFrom === undefined) throw new Error('no streams');
  const load: Load = { isOver: false, saved: 0, pagesMs: [] };
  const loads = [write(node, written, load), read(node, readFrom, load)];
  await sleep(3_000);
  const before = load.pagesMs.splice(0);
  const { took, offsets } = await build(node);
  const during = load.pagesMs.splice(0);
  await until(node, ({ state }) => state === 'ready');
  let outcome = '';
  const compared = await seconds(async () => {
    await verifyProjection(services, name, options);
    outcome = await until(node, ({ found }) => found !== 'running');
  });
  if (outcome !== 'passed') throw new Error(`the comparison ended as ${outcome}`);
  await orderProjection(services, name, { type: 'Switch', isForced: false }, options);
  await sleep(2_000);
  load.isOver = true;
  await Promise.all(loads);
  return {
    rebuild_records_per_s: Math.round(offsets / took),
    rebuild_s: round(took),
    verify_s: round(compared),
    saved_meanwhile: load.saved,
    page_before_ms_p50: round(percentile(before, 50)),
    page_before_ms_p99: round(percentile(before, 99)),
    page_during_ms_p50: round(percentile(during, 50)),
    page_during_ms_p99: round(percentile(during, 99)),
  };
}

function clientAlone(folder: string): Figures {
  const file = fileURLToPath(new URL('./same-rows.ts', import.meta.url));
  const output = execFileSync(process.execPath, [file, join(folder, 'clickhouse'), count], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Figures;
}

await withFolder(async (folder) => {
  const rebuilt = await rebuild(folder);
  await agent.close();
  const alone = clientAlone(folder);
  const percentOf = (floor: string): number =>
    round((100 * (rebuilt['rebuild_records_per_s'] ?? 0)) / (alone[floor] ?? 1), 1);
  report({
    ...rebuilt,
    ...alone,
    rebuild_pct_of_client: percentOf('client_same_rows_per_s'),
    rebuild_pct_of_table_alone: percentOf('client_table_alone_per_s'),
  });
});
