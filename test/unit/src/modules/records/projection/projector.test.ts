import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { records } from '#modules/records/projection/definition.ts';
import type { PageQuery } from '#modules/records/read/reader.ts';
import type { Insert, ProjectionStore } from '#ports/projection-store.ts';
import { holdInserts } from '#test/support/fakes/held-inserts.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import type { ReadRecord } from '#test/support/worlds/projection.ts';
import {
  changeCodec,
  dropTables,
  partitions,
  TestProjection,
} from '#test/support/worlds/projection.ts';
import { idsOf, question, storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

const read = async (
  projection: TestProjection,
  model: RecordModel,
  query: Partial<PageQuery> = {},
): Promise<ReadRecord[]> => {
  const slice = await projection.source.slice(question(model, { limit: 10_000, ...query }));
  return JSON.parse(`[${Buffer.from(slice.text).toString()}]`) as ReadRecord[];
};

const newLog = (): MemoryLog => new MemoryLog(records.topic, partitions);

/** Changes of every kind over 30 records. */
function story(model: RecordModel) {
  const changes = [];
  for (let n = 0; n < 30; n++) changes.push(model.save(`r${n}`, { n }));
  for (let n = 0; n < 30; n += 2) changes.push(model.save(`r${n}`, { n, again: true }));
  for (let n = 0; n < 30; n += 5) changes.push(model.delete(`r${n}`));
  for (let n = 0; n < 30; n += 7) changes.push(model.prune(`r${n}`));
  changes.push(model.restore('r7'), model.save('r0', { back: 1 }), model.purge('r1'));
  return changes;
}

describe('records projector', () => {
  it('shows what the model says, whatever the batches', async () => {
    for (const batchSize of [1, 3, 1000]) {
      const log = newLog();
      log.batchSize = batchSize;
      const model = new RecordModel();
      await using projection = await TestProjection.open(store, log);
      await projection.publish(model, story(model));
      const found = await read(projection, model);
      expect(idsOf(found)).toEqual(idsOf(model.ordered()));
      for (const { id, held } of model.ordered()) {
        const record = found.find((one) => one.id === id)!;
        expect(record._svc_metadata.deleted_at === null).toBe(held.deletedAt === null);
        expect('pruned_at' in record._svc_metadata).toBe(held.prunedAt !== null);
        const { _svc_metadata: _, ...fields } = record;
        expect(fields).toEqual(held.prunedAt === null ? JSON.parse(held.payload) : { id });
      }
      await dropTables(store);
    }
  });

  it('fills tables that are built one partition after the other, then follows', async () => {
    const log = newLog();
    log.batchSize = 3;
    const models = ['connection-a', 'connection-b'].map((uid) => new RecordModel('Contact', uid));
    const places = models.map((model) => model.partition(partitions));
    expect(new Set(places).size).toBe(2);
    for (const model of models) {
      const messages = story(model).map((change) => model.message(changeCodec, change));
      log.append(model.partition(partitions), messages);
    }
    const filled: string[] = [];
    const watched = wrap(store, ({ table, rows }) => {
      if (table !== 'records') return;
      for (const line of Buffer.from(rows).toString().split('\n')) {
        const [partition = ''] = line.split('\t');
        if (partition !== '' && partition !== filled.at(-1)) filled.push(partition);
      }
    });
    await using projection = await TestProjection.open(store, log, {
      store: watched,
      queryClass: () => 'build',
    });
    for (const [at, place] of places.entries()) {
      await projection.settled(place, models[at]!.seq);
    }
    expect(filled).toEqual(places.toSorted((a, b) => a - b).map(String));
    for (const model of models) {
      await projection.publish(model, [model.save('later')]);
      expect(idsOf(await read(projection, model))).toEqual(idsOf(model.ordered()));
    }
  });

  it('stops while more is read than one insert takes', async () => {
    const log = newLog();
    const model = new RecordModel();
    const { store: held, inserting, release } = holdInserts(store, 'records');
    const projection = await TestProjection.open(store, log, { store: held });
    projection.append(model, [model.save('a')]);
    await inserting;
    const mebibyte = 'x'.repeat(1024 ** 2);
    const large = Array.from({ length: 40 }, (_, n) => model.save(`r${n}`, { mebibyte }));
    log.batchSize = 1;
    projection.append(model, large);
    // The one of `a`, those of an insert of 32 MiB, and one that has no room.
    await eventually(
      () => Promise.resolve(log.followed),
      (batches) => batches === 34,
    );
    const stopped = projection[Symbol.asyncDispose]();
    release();
    await stopped;
    const rows = await store.queryRows('SELECT record_id FROM records');
    expect(rows).toEqual([{ record_id: 'a' }]);
  });

  it('reads the same changes again with other boundaries and changes nothing', async () => {
    const log = newLog();
    const model = new RecordModel();
    let before: ReadRecord[];
    {
      await using projection = await TestProjection.open(store, log);
      await projection.publish(model, story(model));
      before = await read(projection, model);
    }
    const partition = model.partition(partitions);
    for (const [batchSize, from] of [
      [7, 5],
      [1000, 0],
      [1, 40],
    ] as const) {
      const inserted = log.batchSize;
      log.batchSize = batchSize;
      await store.command(
        `INSERT INTO projector_positions SELECT name, log_partition, ${from}, owner_epoch, now64(3), revision + 1
         FROM projector_positions FINAL WHERE log_partition = ${partition}`,
      );
      await using projection = await TestProjection.open(store, log);
      await projection.settled(partition, await log.endOffset('', partition));
      expect(await read(projection, model)).toEqual(before);
      log.batchSize = inserted;
    }
  });

  it.each(['projector:before-insert', 'projector:after-insert', 'projector:after-position'])(
    'goes on after a crash at %s',
    async (point) => {
      const log = newLog();
      const model = new RecordModel();
      const crashed = await TestProjection.open(store, log, {
        faultPoint: (name) => {
          if (name === point && model.seq > 0) throw new Error('crash');
        },
      });
      const end = crashed.append(model, story(model));
      if (point === 'projector:after-position')
        await crashed.settled(model.partition(partitions), end);
      await expect(crashed.projector.stopped).rejects.toThrow('crash');
      await crashed[Symbol.asyncDispose]();

      await using projection = await TestProjection.open(store, log);
      await projection.settled(model.partition(partitions), end);
      expect(idsOf(await read(projection, model))).toEqual(idsOf(model.ordered()));
      await projection.publish(model, [model.save('later')]);
      expect(idsOf(await read(projection, model))).toContain('later');
    },
  );

  it('ignores a fenced owner, also after a restart', async () => {
    const log = newLog();
    const model = new RecordModel();
    model.epoch = 2;
    const stale = { ...model.save('stale'), owner_epoch: 1, record_id: 'fenced', stream_seq: 9 };
    {
      await using projection = await TestProjection.open(store, log);
      await projection.publish(model, [model.save('a')]);
      await projection.publish(model, [{ ...stale, position: 9 }]);
      expect(idsOf(await read(projection, model))).toEqual(['a']);
    }
    await using projection = await TestProjection.open(store, log);
    await projection.publish(model, [{ ...stale, position: 10 }]);
    expect(idsOf(await read(projection, model))).toEqual(['a']);
  });

  it('skips the reserved key, and takes tombstones with and without their purge', async () => {
    const log = newLog();
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, log);
    await projection.publish(model, [model.save('a'), model.save('b'), model.save('c')]);
    const purge = model.purge('b');
    const end = log.append(model.partition(partitions), [
      { key: '-', value: null, headers: {} },
      model.message(changeCodec, purge),
      model.tombstone('b'),
      model.tombstone('c'),
      model.tombstone('never-saved'),
    ]);
    await projection.settled(model.partition(partitions), end);
    expect(idsOf(await read(projection, model))).toEqual(['a']);
    expect(idsOf(await read(projection, model, { ids: ['a', 'b', 'c'] }))).toEqual(['a']);
  });

  it('marks a change that it cannot read, and goes on', async () => {
    const log = newLog();
    const model = new RecordModel();
    await using projection = await TestProjection.open(store, log);
    await projection.publish(model, [model.save('a')]);
    const broken = model.message(changeCodec, model.save('broken'));
    const end = log.append(model.partition(partitions), [
      { ...broken, value: Buffer.from('nonsense') },
      { key: 'odd', value: Buffer.from('nonsense'), headers: {} },
      model.message(changeCodec, model.save('z')),
    ]);
    await projection.settled(model.partition(partitions), end);
    const found = await read(projection, model);
    expect(idsOf(found)).toEqual(['a', 'broken', 'z']);
    const rows = await store.queryRows(`SELECT record_id, error FROM records WHERE error != ''`);
    expect(rows).toEqual([{ record_id: 'broken', error: 'unreadable' }]);
  });

  it('writes a change that the table refuses without its payload, and the others with it', async () => {
    const model = new RecordModel();
    const refusing = wrap(store, (insert) => {
      if (!Buffer.from(insert.rows).includes('poison')) return;
      throw new GatewayError('projection_refused');
    });
    await using projection = await TestProjection.open(store, newLog(), { store: refusing });
    const changes = ['a', 'b', 'c', 'd'].map((id) =>
      model.save(id, id === 'c' ? { word: 'poison' } : { word: 'fine' }),
    );
    await projection.publish(model, changes);
    const found = await read(projection, model);
    expect(found.map(({ id, word }) => [id, word])).toEqual([
      ['a', 'fine'],
      ['b', 'fine'],
      ['c', undefined],
      ['d', 'fine'],
    ]);
  });

  it('tries an insert of unknown outcome again under the same token', async () => {
    const model = new RecordModel();
    const tokens: string[] = [];
    const flaky = wrap(store, ({ table, deduplicationToken }) => {
      if (table !== 'records') return;
      tokens.push(deduplicationToken);
      if (tokens.length < 3) throw new GatewayError('projection_unavailable');
    });
    await using projection = await TestProjection.open(store, newLog(), { store: flaky });
    await projection.publish(model, [model.save('a'), model.save('b')]);
    expect(idsOf(await read(projection, model))).toEqual(['a', 'b']);
    expect(new Set(tokens).size).toBe(1);
  });

  it.each([
    ['its position is older than three days', 4 * 86_400_000, false],
    ['the table is empty', 0, true],
  ])('rebuilds when %s', async (_reason, laterMs, isEmptied) => {
    const log = newLog();
    const model = new RecordModel();
    let now = Date.now();
    const clock: Clock = { now: () => now, nowMicros: () => now * 1000 };
    {
      await using projection = await TestProjection.open(store, log, { clock });
      await projection.publish(model, story(model));
    }
    // Otherwise the row of a change that is not in the log: gone after a rebuild.
    if (isEmptied) await store.command('TRUNCATE TABLE records');
    else {
      await using projection = await TestProjection.open(store, log, { clock });
      const partition = model.partition(partitions);
      await projection.settled(partition, await log.endOffset('', partition));
      await store.command(
        `INSERT INTO records (log_partition, stream_id, position, record_id, version, modified_at)
         SELECT log_partition, stream_id, 20000, 'ghost', 20000, modified_at FROM records LIMIT 1`,
      );
    }
    now += laterMs;
    const end = log.append(
      model.partition(partitions),
      [model.message(changeCodec, model.save('new'))],
      now,
    );
    await using projection = await TestProjection.open(store, log, { clock });
    await projection.settled(model.partition(partitions), end);
    expect(idsOf(await read(projection, model))).toEqual(idsOf(model.ordered()));
  });

  it('cleans superseded rows and shows the same afterwards', async () => {
    const model = new RecordModel();
    const cleaned = Promise.withResolvers<undefined>();
    const watched = wrap(
      store,
      () => undefined,
      (sql) => {
        if (sql.includes('records_by_id') && sql.startsWith('OPTIMIZE')) cleaned.resolve(undefined);
      },
    );
    await using projection = await TestProjection.open(store, newLog(), {
      store: watched,
      cleanupMin: 50,
    });
    for (let round = 0; round < 4; round++) {
      const changes = Array.from({ length: 50 }, (_, n) => model.save(`r${n}`, { round }));
      await projection.publish(model, changes);
    }
    await cleaned.promise;
    await projection[Symbol.asyncDispose]();
    const rows = await store.queryRows<{ superseded: number }>(
      'SELECT position FROM records WHERE superseded = 1',
    );
    expect(rows.length).toBeLessThan(150);
    const ids = (await read(projection, model)).map(({ id }) => id);
    expect(ids).toEqual(idsOf(model.ordered()));
  });

  it('notifies waiters when a change can be read, and not before', async () => {
    const model = new RecordModel();
    const log = newLog();
    await using projection = await TestProjection.open(store, log);
    const partition = model.partition(partitions);
    const abort = new AbortController();
    const waiting = projection.projector.published(partition, 2, abort.signal);
    const forEver = projection.projector.published(partition, 1_000, abort.signal);
    await projection.publish(model, [model.save('a'), model.save('b')]);
    await waiting;
    abort.abort(new Error('gone'));
    await expect(forEver).rejects.toThrow('gone');
  });

  it.each([1, 7, 1000])(
    'ends by itself at the offsets it was given, batches of %i',
    async (size) => {
      const model = new RecordModel();
      const log = newLog();
      log.batchSize = size;
      const partition = model.partition(partitions);
      const messages = Array.from({ length: 30 }, (_, n) => model.save(`r${n}`, { n }));
      log.append(
        partition,
        messages.map((change) => model.message(changeCodec, change)),
      );
      const until = new Map(Array.from({ length: partitions }, (_, at) => [at, 0]));
      until.set(partition, 19);
      {
        await using bounded = await TestProjection.open(store, log, { until });
        await bounded.projector.stopped;
        expect((await read(bounded, model)).map(({ id }) => id)).toEqual(
          idsOf(model.ordered()).slice(0, 19),
        );
      }
      await using after = await TestProjection.open(store, log);
      await after.settled(partition, messages.length);
      expect((await read(after, model)).map(({ id }) => id)).toEqual(idsOf(model.ordered()));
    },
  );
});

function wrap(
  inner: ProjectionStore,
  onInsert: (insert: Insert) => void,
  onCommand: (sql: string) => void = () => undefined,
): ProjectionStore {
  return {
    create: (definition) => inner.create(definition),
    drop: (name) => inner.drop(name),
    insert: async (insert) => {
      onInsert(insert);
      await inner.insert(insert);
    },
    command: async (sql, options) => {
      await inner.command(sql, options);
      onCommand(sql);
    },
    queryBinary: (sql, params, lane) => inner.queryBinary(sql, params, lane),
    queryRows: (sql, params, lane) => inner.queryRows(sql, params, lane),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
