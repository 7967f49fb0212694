import { setImmediate as breathe } from 'node:timers/promises';
import { MessageChannel } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import {
  announceDropped,
  connectRecordReader,
  recordSourceMethods,
} from '#adapters/projection-store/reader-rpc.ts';
import { connect } from '#adapters/threads/rpc.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { systemClock } from '#kernel/time.ts';
import { createRecordReader } from '#modules/records/read/read-ahead.ts';
import type { RecordSource } from '#modules/records/read/reader.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { TestProjection } from '#test/support/worlds/projection.ts';
import {
  counted,
  idsOf,
  pageOf,
  question,
  storeOfFile,
  walk,
} from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

describe('read-ahead', () => {
  const saved = (model: RecordModel, count: number) =>
    Array.from({ length: count }, (_, n) => model.save(`r${n}`, { n }));

  it('feeds the pages after the first, and never ends before the head', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 350));
    const watched = counted(projection.source);
    const reader = createRecordReader(watched.source, systemClock);
    const first = await pageOf(reader, question(model));
    const second = await pageOf(reader, question(model, { cursor: first.next_cursor }));
    expect(watched.slices()).toBe(2);
    await projection.publish(model, [model.save('new')]);
    const third = await pageOf(reader, question(model, { cursor: second.next_cursor }));
    const last = await pageOf(reader, question(model, { cursor: third.next_cursor }));
    expect(idsOf(last.records).at(-1)).toBe('new');
    expect(last.records).toHaveLength(51);
  });

  it.each(['prune', 'delete', 'purge'] as const)('forgets a stream on %s', async (kind) => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 350));
    const first = await pageOf(projection.reader, question(model));
    await pageOf(projection.reader, question(model, { cursor: first.next_cursor }));
    await projection.publish(model, [model[kind]('r150')]);
    const again = await pageOf(projection.reader, question(model, { cursor: first.next_cursor }));
    const found = again.records.find(({ id }) => id === 'r150');
    if (kind === 'prune') expect(found).not.toHaveProperty('n');
    else expect(found).toBeUndefined();
  });

  it('forgets after five seconds', async () => {
    const model = new RecordModel();
    let now = Date.now();
    const clock: Clock = { now: () => now, nowMicros: () => now * 1000 };
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 350));
    const watched = counted(projection.source);
    const reader = createRecordReader(watched.source, clock);
    const first = await pageOf(reader, question(model));
    await pageOf(reader, question(model, { cursor: first.next_cursor }));
    now += 4_999;
    await pageOf(reader, question(model, { cursor: first.next_cursor }));
    expect(watched.slices()).toBe(2);
    now += 1;
    await pageOf(reader, question(model, { cursor: first.next_cursor }));
    expect(watched.slices()).toBeGreaterThan(2);
  });

  it('keeps readers of one stream apart', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 1_000));
    const expected = idsOf(model.ordered());
    const limits = [7, 50, 99, 100, 333];
    const walks = limits.map((limit) => walk(projection.reader, question(model, { limit })));
    for (const found of await Promise.all(walks)) expect(idsOf(found)).toEqual(expected);
  });

  it('reads a chunk further ahead for a reader that had to wait for one', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, saved(model, 4_300));
    for (const isFast of [true, false]) {
      const gate = Promise.withResolvers<undefined>();
      const chunks: Promise<unknown>[] = [];
      const slice: RecordSource['slice'] = (query) => {
        const found = projection.source.slice(query);
        if (query.limit === question(model).limit) return found;
        const chunk = gate.promise.then(() => found);
        chunks.push(chunk);
        return chunk;
      };
      const reader = createRecordReader({ ...projection.source, slice }, systemClock);
      const { next_cursor: cursor } = await pageOf(reader, question(model));
      if (!isFast) {
        gate.resolve(undefined);
        await Promise.all(chunks);
        await breathe();
      }
      const second = pageOf(reader, question(model, { cursor }));
      gate.resolve(undefined);
      await second;
      // A chunk has 2,000 records: at its second page the next one is not due for who takes their time.
      expect(chunks).toHaveLength(isFast ? 2 : 1);
    }
  });

  it('works across threads, where drops come before what follows them', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    const { port1, port2 } = new MessageChannel();
    const serving = connect(port1, recordSourceMethods(projection.source));
    announceDropped(projection.source, serving);
    const asking = connect(port2);
    const reader = connectRecordReader(asking, systemClock);
    await projection.publish(model, saved(model, 350));
    const first = await pageOf(reader, question(model));
    await pageOf(reader, question(model, { cursor: first.next_cursor }));
    const end = projection.append(model, [model.prune('r150')]);
    await reader.published(model.partition(4), end, AbortSignal.timeout(30_000));
    const again = await pageOf(reader, question(model, { cursor: first.next_cursor }));
    expect(again.records.find(({ id }) => id === 'r150')).not.toHaveProperty('n');
    expect(idsOf(await walk(reader, question(model)))).toEqual(idsOf(model.ordered()));
    const abort = new AbortController();
    const waiting = reader.published(model.partition(4), end + 1, abort.signal);
    abort.abort();
    await expect(waiting).rejects.toThrow();
    await expect(reader.page(question(model, { cursor: 'nonsense' }))).rejects.toBeInstanceOf(
      GatewayError,
    );
    asking.close();
  });
});
