/**
 * A projection of a project beside that of the service, over the same changes: `custom-projection.ts [records] [times]`. Both
 * are built from the log, one after the other, while records are written; then the mapping is changed and replaces the first.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { environmentByName } from '#modules/access/environments/queries.ts';
import {
  deleteProjection,
  deployProjection,
} from '#modules/operations/custom-projections/handlers.ts';
import {
  findProjection,
  orderProjection,
  rebuildProjection,
} from '#modules/operations/projections/handlers.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { DeployedDefinition } from '#rules/projection-columns.ts';
import { report, round, seconds, withFolder } from './measure.ts';
import { decided, newOrigin, readable, startNode, type BenchNode } from './node.ts';
import { contact } from './payloads.ts';

const [count = '1000000', times = '2'] = process.argv.slice(2);
const total = Number(count);
const streamsCount = 4;
const perStream = total / streamsCount;
const batchSize = 1000;
const options = { actor: 'system' };

async function fill(node: BenchNode, stream: Stream, at: number): Promise<void> {
  const { writer } = node.running.services.records;
  const origin = newOrigin();
  for (let first = 0; first < perStream; first += batchSize) {
    const base = at * perStream + first;
    const records = Array.from({ length: batchSize }, (_, n) => contact(base + n));
    await writer.save(stream, origin, records);
  }
  await readable(node, await decided(node, stream, origin));
}

interface Load {
  isOver: boolean;
  saved: number;
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

const definition = (name: string): DeployedDefinition => ({
  name: 'contacts',
  version: '1',
  description: '',
  models: ['Contact'],
  integrations: null,
  row: {
    type: 'object',
    properties: {
      id: { type: 'string' },
      name: { type: 'string' },
      connection_id: { type: 'string' },
      fields: { type: 'integer' },
    },
    required: ['id', 'name', 'connection_id', 'fields'],
  },
  key: [],
  bundle: `
const { createProjection } = require('svc');
const { z } = require('zod');
module.exports = createProjection({
  description: '',
  from: { models: ['Contact'] },
  row: z.object({ id: z.string(), name: z.string(), connection_id: z.string(), fields: z.int() }),
  map: ({ record, connection_id }) => ({
    id: record.id, name: ${name}, connection_id, fields: Object.keys(record).length,
  }),
});`,
  source: '',
});

/** Offsets per second until the generation is where the topic ended when it was first seen. */
async function rateOf(
  node: BenchNode,
  name: string,
  begin: () => Promise<number>,
): Promise<number> {
  const { services } = node.running;
  const ends = new Map<number, number>();
  let offsets = 0;
  const took = await seconds(async () => {
    const number = await begin();
    for (;;) {
      const { generations } = await findProjection(services, name);
      const built = generations.find(({ generation }) => generation.number === number);
      const partitions = built?.partitions ?? [];
      for (const { partition, start, end } of partitions) {
        if (ends.has(partition)) continue;
        ends.set(partition, end);
        offsets += end - start;
      }
      const isDone = partitions.every(
        ({ partition, position }) => position >= (ends.get(partition) ?? 0),
      );
      if (partitions.length > 0 && isDone) return;
      await sleep(100);
    }
  });
  return Math.round(offsets / took);
}

await withFolder(async (folder) => {
  await using node = await startNode(folder, 'plain');
  const { services } = node.running;
  const streams = await Promise.all(Array.from({ length: streamsCount }, () => node.newStream()));
  await Promise.all(streams.map((stream, at) => fill(node, stream, at)));
  const [written] = streams;
  if (written === undefined) throw new Error('no streams');
  const environmentUid = environmentByName(services.control, 'dev')?.uid ?? '';
  const load: Load = { isOver: false, saved: 0 };
  const writing = write(node, written, load);
  const deploy = (name: string) =>
    deployProjection(services, environmentUid, definition(name), options);
  const replacement = async (projection: string, number: number): Promise<void> => {
    for (;;) {
      if ((await findProjection(services, projection)).projection.active === number) return;
      await sleep(200);
    }
  };
  for (let done = 0; done < Number(times); done += 1) {
    let generation = 0;
    const builtIn = await rateOf(node, 'records', async () => {
      const request = { pacePercent: 75 };
      const rebuilt = await rebuildProjection(services, 'records', request, options);
      generation = rebuilt.projection.last;
      return generation;
    });
    await orderProjection(services, 'records', { type: 'Retire', generation }, options);
    await sleep(2_000);
    const { projection } = await deploy('record.name ?? record.id');
    const first = await rateOf(node, projection, async () => 1);
    const replaced = await rateOf(node, projection, async () => {
      await deploy('(record.name ?? record.id).toUpperCase()');
      return 2;
    });
    await replacement(projection, 2);
    await deleteProjection(services, environmentUid, 'contacts', options);
    report({
      records_per_s: builtIn,
      first_per_s: first,
      replaced_per_s: replaced,
      first_pct_of_records: round((100 * first) / builtIn, 1),
      replaced_pct_of_records: round((100 * replaced) / builtIn, 1),
    });
  }
  load.isOver = true;
  await writing;
  report({ saved_meanwhile: load.saved });
});
