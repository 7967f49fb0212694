import { expect, it } from 'vitest';
import { systemClock } from '#kernel/time.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import { startGenerations } from '#streams/projector/generations.ts';
import { messageOf } from '#streams/projector/projection-message.ts';
import { untouched } from '#streams/projector/projection-state.ts';
import { createPublication } from '#streams/projector/publication.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { silent } from '#test/support/worlds/control.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();
const done = (): Promise<void> => Promise.resolve();

it('says which partition stands still though there is more to take in, and that it moves again', async () => {
  const log = new MemoryLog(logs.topic, 2);
  const said: (string | null)[] = [];
  let advance: (partition: number, next: number) => void = () => undefined;
  await using _ = await startGenerations({
    log,
    store,
    clock: systemClock,
    logger: silent,
    partitions: 2,
    topic: logs.topic,
    tableSet: logs.tableSet,
    projection: {
      current: messageOf(untouched(logs.name), '', 1),
      onChange: () => undefined,
      [Symbol.asyncDispose]: done,
    },
    openReach: () => ({ ...createPublication(), refresh: done, [Symbol.asyncDispose]: done }),
    openFeed: async ({ advanced }) => {
      advance = advanced;
      return {
        holds: () => true,
        readable: done,
        stopped: new Promise<void>(() => undefined),
        [Symbol.asyncDispose]: done,
      };
    },
    openSource: () => null,
    openActive: () => ({
      switchTo: () => undefined,
      watch: () => undefined,
      leave: () => undefined,
    }),
    isTableOf: () => false,
    dropCopies: done,
    report: done,
    verify: () => Promise.resolve({}),
    reads: () => undefined,
    stalled: (reason) => said.push(reason),
    stalledAfterMs: 1,
  });
  log.append(1, [{ key: 'env/o', value: Buffer.from('x'), headers: {} }]);
  const told = (count: number) =>
    eventually(
      () => Promise.resolve(said),
      ({ length }) => length >= count,
    );
  expect(await told(1)).toEqual(['partition 1 of svc.logs.v1 is not projected any more']);
  advance(1, 1);
  expect(await told(2)).toEqual([expect.any(String), null]);
});
