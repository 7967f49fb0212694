import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { records } from '#modules/records/projection/definition.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import type { Random } from '#test/support/judges/random.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import type { ReadRecord } from '#test/support/worlds/projection.ts';
import { parsePage, partitions, TestProjection } from '#test/support/worlds/projection.ts';
import { question, storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

const idsPerWriter = 60;
const roundsPerWriter = 25;

/** What one writer does in one command. */
function someChanges(model: RecordModel, random: Random, writer: number) {
  const changes = [];
  for (let left = 1 + random.int(20); left > 0; left--) {
    const id = `w${writer}-${random.int(idsPerWriter)}`;
    const held = model.records.get(id);
    if (held === undefined || random.chance(60))
      changes.push(model.save(id, { n: random.int(1e6) }));
    else if (held.prunedAt !== null) changes.push(model.restore(id));
    else if (random.chance(30)) changes.push(model.prune(id));
    else if (random.chance(20)) changes.push(model.purge(id));
    else if (held.deletedAt === null) changes.push(model.delete(id));
  }
  return changes;
}

async function write(
  projection: TestProjection,
  model: RecordModel,
  random: Random,
  writer: number,
): Promise<void> {
  for (let round = 0; round < roundsPerWriter; round++) {
    const end = projection.append(model, someChanges(model, random, writer));
    // Sometimes the writer waits for its readers, as a sync that ends; sometimes it hurries on.
    if (random.chance(40)) await projection.settled(model.partition(partitions), end);
    else await turn();
  }
}

/** Pages to the head again and again until the writers are done and everything was seen. */
async function readAll(
  projection: TestProjection,
  model: RecordModel,
  random: Random,
  isDone: () => boolean,
): Promise<ReadRecord[]> {
  const seen: ReadRecord[] = [];
  let cursor: string | null = null;
  for (;;) {
    const isLast = isDone();
    const query = question(model, { cursor, limit: random.pick([1, 2, 7, 50, 1000]) });
    const page = parsePage((await projection.reader.page(query)).body);
    seen.push(...page.records);
    cursor = page.records.at(-1)?._svc_metadata.cursor ?? cursor;
    if (isLast && page.records.length === 0) return seen;
    // A poll at the head is answered from memory: without a turn nobody else would get one.
    await turn();
  }
}

const seed = seedOfRun();

/**
 * A reader pages through a stream while four writers change it and retention prunes it. The model of
 * the stream is the judge: nothing is missed, nothing comes twice unless it was modified again.
 */
describe(`a paging reader beside four writers, SVC_TEST_SEED=${seed}`, () => {
  it.each([0, 1, 2])('run %i', async (run) => {
    const random = seeded(seed + run);
    const log = new MemoryLog(records.topic, partitions);
    log.batchSize = random.pick([1, 5, 40, 1000]);
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, log, { cleanupMin: 100 });

    let isDone = false;
    const writers = [0, 1, 2, 3].map((n) => write(projection, model, random, n));
    const written = Promise.all(writers).then(async () => {
      const partition = model.partition(partitions);
      await projection.settled(partition, await log.endOffset('', partition));
      isDone = true;
    });
    const readers = [0, 1].map(() => readAll(projection, model, random, () => isDone));
    const [first, second] = await Promise.all([readers[0]!, readers[1]!, written]);

    for (const seen of [first, second]) {
      const times = seen.map((record) => record._svc_metadata.last_modified_at);
      expect(times).toEqual([...times].sort());
      // The same record comes again only with another modification.
      const versions = seen.map(({ id, _svc_metadata: meta }) => `${id} ${meta.last_modified_at}`);
      expect(new Set(versions).size).toBe(versions.length);
      const last = new Map(seen.map((record) => [record.id, record._svc_metadata]));
      for (const { id, held } of model.ordered()) {
        expect(last.get(id)?.deleted_at !== null, id).toBe(held.deletedAt !== null);
      }
      const missed = model.ordered().filter(({ id }) => !last.has(id));
      expect(missed).toEqual([]);
    }
    const fresh = await readAll(projection, model, random, () => true);
    expect(fresh.map(({ id }) => id)).toEqual(model.ordered().map(({ id }) => id));
    for (const { id, held } of model.ordered()) {
      const record = fresh.find((one) => one.id === id)!;
      const { _svc_metadata: _, ...fields } = record;
      expect(fields).toEqual(held.prunedAt === null ? JSON.parse(held.payload) : { id });
    }
  });
});
