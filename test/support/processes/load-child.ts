/**
 * A whole gateway with records, and writers that continue until `stop`: `load-child.ts <data folder> <records> <seed>
 * <ms between writes>`. Prints its address when the records are readable; `stop` on stdin ends the writers, the end of
 * stdin the gateway. A second start over the same folder fills nothing, and writes on.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '#app/config/config.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { seeded } from '../judges/random.ts';
import { originOf, readable, tell } from './node-child.ts';
import { composeWhole, type WholeNode } from './whole-node.ts';

const batchSize = 500;
const recordsPerRound = 25;
const restPerWork = 10;
const models = ['Contact', 'Deal', 'Note', 'Task'] as const;
const options = { actor: 'system' };

const [folder = '', count = '0', seed = '1', pauseMs = '0'] = process.argv.slice(2);
const perModel = Number(count) / models.length;
const streamFile = join(folder, 'stream.json');

async function open(): Promise<WholeNode> {
  const running = await composeWhole(
    loadConfig({
      ...process.env,
      SVC_DATA_DIR: folder,
      SVC_PORT: '0',
      SVC_LOG_LEVEL: 'warn',
      SVC_RATE_LIMIT_PER_MINUTE: '0',
    }),
  );
  running.failed.catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
  return running;
}

/** A connection whose streams are written, the same on each start. */
async function streamOf({ services }: WholeNode): Promise<Stream> {
  if (existsSync(streamFile)) return JSON.parse(readFileSync(streamFile, 'utf8')) as Stream;
  const environmentUid = environmentByName(services.control, 'dev')!.uid;
  const provider = services.providers.all().find(({ auth_mode }) => auth_mode === 'API_KEY')!;
  const integrationKey = 'load';
  const connectionId = 'load';
  await createIntegration(
    services,
    { environmentUid, uniqueKey: integrationKey, provider },
    options,
  );
  const credentials = { credentials: { type: 'API_KEY', apiKey: 'k' }, expiresAt: null };
  const wanted = { environmentUid, integrationKey, connectionId, provider, credentials };
  const { connection } = await importConnection(services, wanted, options);
  const stream = {
    environmentUid,
    connectionUid: connection.uid,
    integration: integrationKey,
    connectionId,
    model: '',
    variant: 'base',
  } as Stream;
  writeFileSync(streamFile, JSON.stringify(stream));
  return stream;
}

const recordOf = (at: number, version: number) => ({
  id: `r${String(at).padStart(6, '0')}`,
  version,
  text: `${at} ${version} `.repeat(12),
});

async function fill(node: WholeNode, stream: Stream): Promise<void> {
  const origin = originOf('fill', 1);
  for (let first = 0; first < perModel; first += batchSize) {
    const records = Array.from({ length: batchSize }, (_, at) => recordOf(first + at, 0));
    await node.services.records.writer.save(stream, origin, records);
  }
  await readable(node, stream, origin);
}

/** Changes some, adds some, deletes some, again and again. */
async function write(node: WholeNode, stream: Stream, start: number): Promise<number> {
  const { writer } = node.services.records;
  const random = seeded(Number(seed) + start);
  const origin = originOf(`write-${stream.model}-${start}`, 1);
  let rounds = 0;
  for (; !isStopped; rounds += 1) {
    const some = () => Array.from({ length: recordsPerRound }, () => random.int(perModel + 5_000));
    const startedAt = performance.now();
    await writer.save(
      stream,
      origin,
      some().map((at) => recordOf(at, start + rounds + 1)),
    );
    if (random.chance(30)) {
      await writer.delete(
        stream,
        origin,
        some().map((at) => ({ id: recordOf(at, 0).id })),
      );
    }
    // On a busy machine the writers must not outrun what is rebuilt.
    await sleep(Math.max(Number(pauseMs), restPerWork * (performance.now() - startedAt)));
  }
  await readable(node, stream, origin);
  return rounds;
}

let isStopped = false;
const node = await open();
const isFirst = !existsSync(streamFile);
const stream = await streamOf(node);
const streams = models.map((model) => ({ ...stream, model }));
if (isFirst) for (const one of streams) await fill(node, one);
tell({ event: 'ready', url: node.url });
const start = Date.now() % 1_000_000_000;
const writers = streams.map((one) => write(node, one, start));
for await (const line of createInterface({ input: process.stdin })) {
  if (line !== 'stop') continue;
  isStopped = true;
  tell({ event: 'stopped', rounds: await Promise.all(writers) });
}
isStopped = true;
await Promise.all(writers);
await node[Symbol.asyncDispose]();
