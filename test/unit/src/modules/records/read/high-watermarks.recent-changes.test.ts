import { describe, expect, it, vi } from 'vitest';
import { systemClock } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { createHighWatermarks } from '#modules/records/read/high-watermarks.ts';
import type { PageQuery, RecordSource } from '#modules/records/read/reader.ts';
import { createRecordSource } from '#modules/records/read/source.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import { holdInserts } from '#test/support/fakes/held-inserts.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import {
  changeCodec,
  noVault,
  partitions,
  TestProjection,
} from '#test/support/worlds/projection.ts';
import { question, storeOfFile } from '#test/support/worlds/record-pages.ts';

const seed = seedOfRun();
const store = await storeOfFile();

/** Reads the tables alone. */
const tableSource = (): RecordSource =>
  createRecordSource({
    store,
    tables: recordTables(1),
    watermarks: createHighWatermarks(),
    published: () => Promise.resolve(),
    reached: () => Promise.resolve([]),
    isCurrent: () => false,
    vault: noVault,
    clock: systemClock,
    partitions,
  });

const textOf = async (source: RecordSource, query: PageQuery) => {
  const { text, positions, hasMore } = await source.slice(query);
  return { text: Buffer.from(text).toString(), positions: [...positions], hasMore };
};

function changeOf(random: Random, model: RecordModel) {
  const id = `r${random.int(30)}`;
  const held = model.records.get(id);
  const kind = random.int(20);
  if (held === undefined || held.deletedAt !== null || kind < 12)
    return model.save(id, { n: random.int(1e6), text: 'ключ-鍵-🔑\t\n\\'.repeat(random.int(9)) });
  if (kind < 15) return model.delete(id);
  if (kind < 17) return held.prunedAt === null ? model.prune(id) : model.restore(id);
  return kind === 17 ? model.purge(id) : model.save(String(random.int(9)), { n: 1 });
}

describe(`pages from the last changes (seed ${seed})`, () => {
  it('are those of the tables, whatever changed and whatever is asked for', async () => {
    const random = seeded(seed);
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, undefined, { isRecentKept: true });
    const tables = tableSource();
    const cursors: (string | null)[] = [null];
    for (let round = 0; round < roundsOf({ push: 6, all: 60 }); round++) {
      const changes = Array.from({ length: 1 + random.int(40) }, () => changeOf(random, model));
      await projection.publish(model, changes);
      for (let asked = 0; asked < 6; asked++) {
        const query = question(model, {
          cursor: random.pick(cursors.slice(-20)),
          limit: random.pick([1, 2, 10, 100]),
          actions: random.pick([null, ['UPDATED'], ['ADDED', 'DELETED']]),
        });
        const found = await textOf(projection.source, query);
        expect(found).toEqual(await textOf(tables, query));
        const last = [...found.text.matchAll(/"cursor":"([^"]+)"/g)].map(([, cursor]) => cursor);
        if (last.length > 0) cursors.push(random.pick(last) ?? null);
      }
    }
  });

  it('need no query', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, undefined, { isRecentKept: true });
    await projection.publish(model, [model.save('a')]);
    const first = await textOf(projection.source, question(model));
    const cursor = /"cursor":"([^"]+)"/.exec(first.text)?.[1] ?? null;
    await projection.publish(model, [model.save('b'), model.save('c'), model.delete('b')]);
    const query = vi.spyOn(store, 'queryBinary');
    using _ = { [Symbol.dispose]: () => query.mockRestore() };
    const page = await textOf(projection.source, question(model, { cursor }));
    expect(page.text.match(/"id":"\w"/g)).toEqual(['"id":"c"', '"id":"b"']);
    expect(query).not.toHaveBeenCalled();
  });

  it('end at the table while an insert is readable and not confirmed', async () => {
    const model = new RecordModel();
    const held = holdInserts(store, 'records', 'once-readable');
    await using projection = await TestProjection.open(store, undefined, {
      store: held.store,
      isRecentKept: true,
    });
    using _ = held;
    held.pass();
    await projection.publish(model, [model.save('a'), model.save('b')]);
    held.hold();
    projection.append(model, [model.save('a', { n: 2 })]);
    await held.inserting;
    const page = await textOf(projection.source, question(model));
    expect(page.text.match(/"id":"\w"/g)).toEqual(['"id":"b"', '"id":"a"']);
    expect(page.hasMore).toBe(false);
  });

  it('are not read where more was changed at once than is kept', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, undefined, { isRecentKept: true });
    await projection.publish(model, [model.save('first')]);
    const many = Array.from({ length: 5000 }, (_, at) => model.save(`r${at}`));
    await projection.publish(model, many);
    await projection.publish(model, [model.save('last')]);
    const found = await textOf(projection.source, question(model, { limit: 10_000 }));
    expect(found.positions).toEqual(model.ordered().map(({ position }) => position));
  });

  it('follow a projector that reads its log again', async () => {
    const model = new RecordModel();
    const log = new MemoryLog(recordsTopic, partitions);
    const partition = model.partition(partitions);
    const save = (n: number) =>
      log.append(partition, [model.message(changeCodec, model.save('a', { n }))]);
    save(1);
    {
      await using projection = await TestProjection.open(store, log);
      await projection.settled(partition, save(2));
    }
    await using projection = await TestProjection.open(store, log, { isRecentKept: true });
    await projection.settled(partition, save(3));
    const found = await textOf(projection.source, question(model));
    expect(found).toEqual(await textOf(tableSource(), question(model)));
    expect(found.text).toContain('"n":3');
  });
});
