/**
 * An embedded log with more partitions: `repartition.ts [records] [from] [to]`. How long it is copied, how long it
 * takes after the next start until it can be read, and that every page of every stream is the same, byte for byte.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '#app/config/config.ts';
import { repartitionLog } from '#app/tools/repartition.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { composeWhole, type WholeNode } from '#test/support/processes/whole-node.ts';
import { report, round, withFolder } from './measure.ts';
import { decided, newOrigin, readable, startNode } from './node.ts';
import { contact } from './payloads.ts';

const batchSize = 1000;
const streamsCount = 16;
const self = fileURLToPath(import.meta.url);
const toldFile = (folder: string): string => join(folder, 'told.json');

/** What `fill` leaves beside the data, in `told.json`. */
export interface Told {
  readonly streams: readonly Stream[];
  /** Hash of all pages, cursors included. */
  readonly pages: string;
  readonly key: string;
  readonly accountKey: string;
}

const settings = (folder: string, partitions: number) => ({
  SVC_DATA_DIR: folder,
  SVC_PORT: '0',
  SVC_LOG_LEVEL: 'error',
  SVC_PARTITIONS: String(partitions),
});

type Query = Parameters<WholeNode['services']['records']['reader']['page']>[0];
type Page = Awaited<ReturnType<WholeNode['services']['records']['reader']['page']>>;

/** Waits until the tables are filled: after a start they can be behind the log. */
async function pageOf(node: WholeNode, query: Query): Promise<Page> {
  for (;;) {
    try {
      return await node.services.records.reader.page(query);
    } catch (error) {
      const isBehind = error instanceof GatewayError && error.code === 'projection_unavailable';
      if (!isBehind) throw error;
      await sleep(50);
    }
  }
}

async function pagesOf(node: WholeNode, streams: readonly Stream[]): Promise<string> {
  const hash = createHash('sha256');
  for (const stream of streams) {
    let cursor: string | null = null;
    do {
      const query = { stream, cursor, modifiedAfter: null, actions: null, ids: null, limit: 1000 };
      const page = await pageOf(node, query);
      hash.update(page.body);
      cursor = page.nextCursor;
    } while (cursor !== null);
  }
  return hash.digest('hex');
}

async function fill(folder: string, total: number, partitions: number): Promise<void> {
  await using node = await startNode(folder, 'plain', settings(folder, partitions));
  const streams: Stream[] = [];
  for (let at = 0; at < streamsCount; at += 1) streams.push(await node.newStream());
  const filling = streams.map(async (stream, at) => {
    const origin = newOrigin();
    for (let first = at * batchSize; first < total; first += streamsCount * batchSize) {
      const batch = Array.from({ length: batchSize }, (_, n) => contact(first + n));
      await node.running.services.records.writer.save(stream, origin, batch);
    }
    await readable(node, await decided(node, stream, origin));
  });
  await Promise.all(filling);
  const pages = await pagesOf(node.running, streams);
  const { key, running } = node;
  const accountKey = running.generatedKeys.find(({ name }) => name === 'account')?.secret ?? '';
  const told: Told = { streams, pages, key, accountKey };
  writeFileSync(toldFile(folder), JSON.stringify(told));
}

/** Seconds from the start until the service is ready, and until every stream can be read. */
async function readAgain(folder: string, partitions: number): Promise<void> {
  const { streams, pages } = JSON.parse(readFileSync(toldFile(folder), 'utf8')) as Told;
  const started = performance.now();
  await using node = await composeWhole(loadConfig(settings(folder, partitions)));
  const since = (): number => round((performance.now() - started) / 1000);
  const ready_s = since();
  const first = { cursor: null, modifiedAfter: null, actions: null, ids: null, limit: 1 };
  for (const stream of streams) await pageOf(node, { stream, ...first });
  const readable_s = since();
  if ((await pagesOf(node, streams)) !== pages) throw new Error('the pages differ');
  console.log(JSON.stringify({ ready_s, readable_s }));
}

const [first = '200000', second = '4', third = '8', ...rest] = process.argv.slice(2);
if (first === 'fill') await fill(second, Number(third), Number(rest[0]));
else if (first === 'read') await readAgain(second, Number(third));
else {
  await withFolder(async (folder) => {
    const run = (...args: readonly (string | number)[]): string =>
      execFileSync(process.execPath, [...process.execArgv, self, ...args.map(String)], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'inherit'],
      });
    const [from, to] = [Number(second), Number(third)];
    run('fill', folder, first, from);
    const started = performance.now();
    const config = loadConfig(settings(folder, from));
    const { messages } = await repartitionLog(config, to, null, () => undefined);
    const copy_s = round((performance.now() - started) / 1000);
    const [last = '{}'] = run('read', folder, to).trim().split('\n').slice(-1);
    const start = JSON.parse(last) as { ready_s: number; readable_s: number };
    report({ records: Number(first), from, to, messages: messages ?? 0, copy_s, ...start });
  });
}
