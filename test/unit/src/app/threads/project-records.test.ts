import { pino } from 'pino';
import { expect, it, vi } from 'vitest';
import { createThreadMetrics } from '#adapters/metrics/prometheus.ts';
import { migrate } from '#adapters/projection-store/migrate.ts';
import { projectRecords } from '#app/threads/project-records.ts';
import { systemClock } from '#kernel/time.ts';
import { records } from '#modules/records/projection/definition.ts';
import { createHighWatermarks } from '#modules/records/read/high-watermarks.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { changeCodec, partitions } from '#test/support/worlds/projection.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

it.each([
  [true, 'build'],
  [false, 'insert'],
] as const)(
  'a generation that is being built (%s) inserts in the class %s',
  async (isBuilding, expected) => {
    const model = new RecordModel();
    const partition = model.partition(partitions);
    const log = new MemoryLog(records.topic, partitions);
    const append = (count: number): number =>
      log.append(
        partition,
        Array.from({ length: count }, () => model.message(changeCodec, model.save('a'))),
      );
    let end = append(1000);
    // No time passes: after many changes, nothing but a caller ends the wait for more.
    const now = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
    const insert = vi.spyOn(store, 'insert');
    using _ = { [Symbol.dispose]: () => [insert, now].forEach((spy) => spy.mockRestore()) };
    let inserted = Promise.withResolvers<undefined>();
    const { openFeed } = projectRecords(
      {
        // A projector only reads it.
        log: log as never,
        store,
        codec: changeCodec,
        clock: systemClock,
        logger: pino({ level: 'silent' }),
        partitions,
      },
      { faultPoint: () => undefined, metrics: createThreadMetrics('projection') },
      { projecting: 'all', log: { kind: 'embedded' } as never },
      {
        prepare: (tables) => migrate(store, tables.migrations),
        notifications: undefined as never,
      },
    );
    const emptying = vi.fn();
    await using feed = await openFeed({
      tables: records.tableSet(1),
      emptying,
      watermarks: createHighWatermarks(),
      advanced: (at, next) => {
        if (at === partition && next >= end) inserted.resolve(undefined);
      },
      isAwaited: (at, next) => at === partition && next >= end,
      isBuilding: () => isBuilding,
      pacePercent: () => 100,
    });
    await inserted.promise;
    inserted = Promise.withResolvers<undefined>();
    end = append(1);
    await inserted.promise;
    const inserts = insert.mock.calls.filter(([{ table }]) => table === 'records');
    const classes = new Set(inserts.map(([{ queryClass }]) => queryClass));
    expect(feed.holds(partition)).toBe(true);
    // It begins with tables of another log.
    expect(emptying).toHaveBeenCalledOnce();
    expect(classes).toEqual(new Set([expected]));
  },
);
