import { describe, expect, it } from 'vitest';
import { isoMicros } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { PageQuery } from '#modules/records/read/reader.ts';
import { holdInserts } from '#test/support/fakes/held-inserts.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { RecordModel, startMicros } from '#test/support/judges/record-model.ts';
import {
  changeCodec,
  dropTables,
  partitions,
  TestProjection,
} from '#test/support/worlds/projection.ts';
import { idsOf, pageOf, question, storeOfFile, walk } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

describe('a projector', () => {
  it('has caught up with what the log had at its start, and refills emptied tables till then', async () => {
    const model = new RecordModel();
    const log = new MemoryLog(recordsTopic, partitions);
    const partition = model.partition(partitions);
    const state = ({ projector }: TestProjection) => ({
      hasCaughtUp: projector.hasCaughtUp(partition),
      isRefilling: projector.isRefilling(partition),
    });
    {
      await using first = await TestProjection.open(store, log);
      await first.publish(model, [model.save('a')]);
      expect(state(first)).toEqual({ hasCaughtUp: true, isRefilling: false });
    }
    const open = async (isRefilling: boolean) => {
      const held = holdInserts(store, 'records');
      await using projection = await TestProjection.open(store, log, { store: held.store });
      using _ = held;
      await held.inserting;
      expect(state(projection)).toEqual({ hasCaughtUp: false, isRefilling });
      held.release();
      await projection.settled(partition, await log.endOffset('', partition));
      expect(state(projection)).toEqual({ hasCaughtUp: true, isRefilling: false });
    };
    log.append(partition, [model.message(changeCodec, model.save('b'))]);
    await open(false);
    await dropTables(store);
    await open(true);
  });

  it.each([
    ['the first change of all', []],
    ['the first change of its partition', [new RecordModel('Contact', 'connection-a')]],
  ])('that was killed after it inserted %s does not refill', async (_change, earlier) => {
    await dropTables(store);
    const model = new RecordModel('Contact', 'connection-b');
    const partition = model.partition(partitions);
    const log = new MemoryLog(recordsTopic, partitions);
    let isKilled = false;
    const killed = await TestProjection.open(store, log, {
      faultPoint(name) {
        if (isKilled && name === 'projector:after-insert') throw new Error('killed');
      },
    });
    for (const other of earlier) {
      expect(other.partition(partitions)).not.toBe(partition);
      await killed.publish(other, [other.save('a')]);
    }
    isKilled = true;
    killed.append(model, [model.save('b')]);
    await expect(killed.projector.stopped).rejects.toThrow('killed');

    const held = holdInserts(store, 'records');
    await using projection = await TestProjection.open(store, log, { store: held.store });
    using _ = held;
    await held.inserting;
    expect(projection.projector.isRefilling(partition)).toBe(false);
    const { records } = await pageOf(projection.reader, question(model));
    expect(idsOf(records)).toEqual(['b']);
  });
});

describe('a projector that was killed while it refilled', () => {
  it('refills on, and has no page before it has all', async () => {
    await dropTables(store);
    const model = new RecordModel();
    const partition = model.partition(partitions);
    const log = new MemoryLog(recordsTopic, partitions);
    // More than one insert takes.
    const changes = Array.from({ length: 25_000 }, (_, n) => model.save(`r${n}`));
    const messages = changes.map((change) => model.message(changeCodec, change));
    log.append(partition, messages, Date.now());
    const killed = await TestProjection.open(store, log, {
      faultPoint(name) {
        if (name === 'projector:after-position') throw new Error('killed');
      },
    });
    expect(killed.projector.isRefilling(partition)).toBe(true);
    await expect(killed.projector.stopped).rejects.toThrow('killed');
    const [stored] = await store.queryRows<{ next: string }>(
      `SELECT max(next_offset) AS next FROM projector_positions FINAL
       WHERE name = 'records' AND log_partition = ${partition}`,
    );
    expect(Number(stored!.next)).toBeGreaterThan(0);
    expect(Number(stored!.next)).toBeLessThan(changes.length);

    const held = holdInserts(store, 'records');
    await using projection = await TestProjection.open(store, log, { store: held.store });
    using _ = held;
    await held.inserting;
    expect(projection.projector.isRefilling(partition)).toBe(true);
    held.release();
    await projection.settled(partition, changes.length);
    expect(projection.projector.isRefilling(partition)).toBe(false);
  });
});

describe('pages while an insert is readable and not confirmed', () => {
  const saved = (model: RecordModel, n: number) =>
    Array.from({ length: 300 }, (_, id) => model.save(`r${id}`, { n }));

  it.each([
    { name: 'all records', filter: {} },
    { name: 'updated ones', filter: { actions: ['UPDATED'] } },
    { name: 'those modified since', filter: { modifiedAfter: isoMicros(startMicros) } },
  ] as const)('go on to the end of the table: $name', async ({ filter }) => {
    const model = new RecordModel();
    const held = holdInserts(store, 'records', 'once-readable');
    await using projection = await TestProjection.open(store, undefined, { store: held.store });
    using _ = held;
    held.pass();
    await projection.publish(model, saved(model, 1));
    // Known here, as after any poll.
    await pageOf(projection.reader, question(model, filter));
    held.hold();
    projection.append(model, saved(model, 2));
    await held.inserting;
    const found = await walk(projection.reader, question(model, { ...filter, limit: 100 }));
    expect(idsOf(found)).toEqual(idsOf(model.ordered()));
    const before = found.at(-2)?._svc_metadata.cursor ?? null;
    const polled = await pageOf(projection.reader, question(model, { ...filter, cursor: before }));
    expect(idsOf(polled.records)).toEqual(['r299']);
  });

  it.each([
    { where: 'where the stream is projected', isCurrent: true },
    { where: 'in another process', isCurrent: false },
  ])('find by their ids what no view has yet, $where', async ({ isCurrent }) => {
    const model = new RecordModel();
    const held = holdInserts(store, 'records', 'once-readable');
    await using projection = await TestProjection.open(store, undefined, {
      store: held.store,
      isCurrent: () => isCurrent,
    });
    using _ = held;
    held.pass();
    await projection.publish(model, saved(model, 1));
    await pageOf(projection.reader, question(model));
    // Rows become readable before what the views make of them.
    await store.drop('records_by_id_of_records');
    held.hold();
    projection.append(model, [model.save('r0', { n: 2 }), model.save('new')]);
    await held.inserting;
    const ids = ['new', 'r0', 'r1', 'unknown'];
    const find = async (query: Partial<PageQuery>) =>
      idsOf((await pageOf(projection.reader, question(model, { ids, ...query }))).records);
    expect(await find({})).toEqual(['r1', 'r0', 'new']);
    expect(await find({ actions: ['UPDATED'] })).toEqual(['r0']);
    expect(await find({ modifiedAfter: isoMicros(model.at) })).toEqual(['new']);
  });

  it('pass over no segment that the directory does not know whole', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 1));
    const purged = Array.from({ length: 300 }, (_, id) => model.purge(`r${id}`));
    await projection.publish(model, purged);
    await store.drop('stream_segments_of_records');
    await projection.publish(
      model,
      Array.from({ length: 20_000 }, (_, id) => model.save(`s${id}`)),
    );
    const found = await walk(projection.reader, question(model, { limit: 5000 }));
    expect(idsOf(found)).toEqual(idsOf(model.ordered()));
  });

  it('end at the end of the table after a change that moved nothing', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 1));
    projection.watermarks.drop('all');
    await projection.publish(model, [model.prune('r5'), model.purge('r6')]);
    const [cursor] = (await pageOf(projection.reader, question(model))).records.slice(-1);
    const query = question(model, { cursor: cursor!._svc_metadata.cursor });
    expect((await walk(projection.reader, query)).length).toBe(199);
  });
});
