import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { isoMicros, systemClock } from '#kernel/time.ts';
import { records } from '#modules/records/projection/definition.ts';
import { createActiveSource } from '#modules/records/projection/generations.ts';
import { createHighWatermarks } from '#modules/records/read/high-watermarks.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type { PageQuery, RecordReader, TableSource } from '#modules/records/read/reader.ts';
import { createRecordSource } from '#modules/records/read/source.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { scheduledStore } from '#test/support/fakes/scheduled-store.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import { RecordModel, startMicros } from '#test/support/judges/record-model.ts';
import { ScanJudge } from '#test/support/judges/scan-judge.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { TestGenerations, TestOwner } from '#test/support/worlds/generations.ts';
import { noVault, parsePage, partitions } from '#test/support/worlds/projection.ts';
import { question, storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

const moved = Array.from({ length: 60 }, (_, n) => `moved-${n}`);
const kept = Array.from({ length: 10 }, (_, n) => `kept-${n}`);
const gone = Array.from({ length: 10 }, (_, n) => `gone-${n}`);
const all = [...moved, ...kept, ...gone];
const churned = 20;
const lanes = 3;

/** Some that stay what they are, and some that come and go. */
function someChanges(model: RecordModel, random: Random) {
  const changes = [];
  for (let left = 1 + random.int(5); left > 0; left--)
    changes.push(model.save(random.pick(moved), { n: random.int(1e6) }));
  const id = `churned-${random.int(churned)}`;
  const held = model.records.get(id);
  if (held === undefined) changes.push(model.save(id));
  else if (random.chance(30)) changes.push(model.purge(id));
  else if (held.deletedAt === null && random.chance(30)) changes.push(model.delete(id));
  else changes.push(held.prunedAt === null ? model.prune(id) : model.restore(id));
  const still = random.pick([...kept, ...gone]);
  if (model.records.get(still)!.prunedAt === null) changes.push(model.prune(still));
  return changes;
}

/** Another node, which projects nothing and switches by itself. */
function reading(
  tables: ProjectionStore,
  log: MemoryLog,
  published: RecordReader['published'],
  isRebuilt: boolean,
): { reader: RecordReader; switchTo: (generation: number) => void } {
  const sourceOf = (generation: number): TableSource =>
    createRecordSource({
      store: tables,
      tables: recordTables(generation),
      watermarks: createHighWatermarks(),
      isCurrent: () => false,
      published,
      reached: () => Promise.reject(new Error('not used here')),
      vault: noVault,
      clock: systemClock,
      partitions,
    });
  const sources = [sourceOf(1), sourceOf(2)] as const;
  const source = createActiveSource(sources[0], { log, partitions, isReadElsewhere: true });
  for (const one of isRebuilt ? sources : [sources[0]]) source.watch(one);
  return {
    reader: createRecordReader(source, systemClock),
    switchTo: (generation) => source.switchTo(sources[generation - 1]!),
  };
}

/** What a scan asks, and what it must find. */
function asked(random: Random): { query: Partial<PageQuery>; wanted: string[]; name: string } {
  const name = random.pick(['all', 'all', 'UPDATED', 'ADDED', 'DELETED', 'since', 'ids'] as const);
  const since = { modifiedAfter: isoMicros(startMicros) };
  if (name === 'all') return { name, query: {}, wanted: all };
  if (name === 'since') return { name, query: since, wanted: all };
  if (name === 'ids') {
    const ids = [...moved.slice(random.int(30)).slice(0, 20), ...kept.slice(5), ...gone.slice(5)];
    return { name: ids.join(), query: { ids }, wanted: ids };
  }
  const wanted = { UPDATED: moved, ADDED: kept, DELETED: gone }[name];
  return { name, query: { actions: [name] }, wanted };
}

const seed = seedOfRun();

/**
 * Scans by two nodes, each page from either, beside a writer, while the tables are rebuilt, switched and rolled back.
 * Statements and their confirmations are delayed at random.
 */
describe(`scans beside a writer, SVC_TEST_SEED=${seed}`, () => {
  it.each([
    { name: 'one generation', isRebuilt: false, scansPerLane: 20 },
    { name: 'two, switched to and fro', isRebuilt: true, scansPerLane: 5 },
  ])('return every record that was there throughout: $name', async (scene) => {
    const { isRebuilt, scansPerLane } = scene;
    const random = seeded(seed);
    const log = new MemoryLog(records.topic, partitions);
    log.batchSize = random.pick([5, 40, 1000]);
    const model = new RecordModel();
    const owner = new TestOwner(systemClock);
    const tables = scheduledStore(store, seeded(random.int(2 ** 31)));
    await using node = await TestGenerations.open(tables, log, owner, systemClock);
    const { source } = node.generations;
    const other = reading(tables, log, (...args) => source.published(...args), isRebuilt);
    for (const round of [1, 2])
      await node.publish(
        model,
        moved.map((id) => model.save(id, { round })),
      );
    await node.publish(
      model,
      [...kept, ...gone].map((id) => model.save(id)),
    );
    await node.publish(
      model,
      gone.map((id) => model.delete(id)),
    );

    let isDone = false;
    let nextPage = Promise.withResolvers<undefined>();
    const pageRead = () => {
      const { resolve } = nextPage;
      nextPage = Promise.withResolvers();
      resolve(undefined);
    };
    const writing = (async () => {
      while (!isDone) {
        const end = node.append(model, someChanges(model, random));
        // Readers and the writer keep about the same pace, whatever the machine: moved faster, records are never reached.
        await nextPage.promise;
        if (random.chance(90)) continue;
        const partition = model.partition(partitions);
        await source.published(partition, end, AbortSignal.timeout(30_000));
      }
    })();
    const switching = (async () => {
      if (!isRebuilt) return;
      owner.ask({ type: 'Rebuild', schemaVersion: 1, partitions, pacePercent: 100 });
      const ready = () => Promise.resolve(owner.generation(2)?.state);
      await eventually(ready, (state) => state === 'ready');
      for (let turn = 0; !isDone; turn++) {
        owner.ask(turn === 0 ? { type: 'Switch', isForced: true } : { type: 'RollBack' });
        await sleep(random.int(100));
        other.switchTo(turn % 2 === 0 ? 2 : 1);
        await sleep(random.int(300));
      }
    })();

    const judge = new ScanJudge();
    const readers = [node.reader, other.reader];
    const wrong: object[] = [];
    const scanning = Array.from({ length: lanes }, async () => {
      for (let scan = 0; scan < scansPerLane; scan++) {
        const { query, wanted, name } = asked(random);
        const limit = random.pick([10, 25, 50, 1000]);
        const page = async (cursor: string | null) => {
          const reader = random.pick(readers);
          const { body } = await reader.page(question(model, { ...query, limit, cursor }));
          pageRead();
          return parsePage(body);
        };
        const pagesMax = 10 + (2 * wanted.length) / limit;
        const { isEarly, missed } = await judge.scan({ question: name, wanted, pagesMax, page });
        if (isEarly || missed.length > 0) wrong.push({ name, limit, isEarly, missed });
      }
    });
    await Promise.all(scanning);
    isDone = true;
    pageRead();
    await Promise.all([writing, switching]);
    expect(wrong).toEqual([]);
  });
});
