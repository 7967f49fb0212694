import { expect, it } from 'vitest';
import { watchCorruption } from '#app/threads/watch-corruption.ts';
import { positionsTable } from '#streams/projector/define.ts';
import { Positions } from '#streams/projector/positions.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

it('empties a damaged table of notes while others read it', async () => {
  await store.create(positionsTable);
  const positions = new Positions(store, 'records');
  await positions.save([{ partition: 0, next: 7, ownerEpoch: 1, atEndAt: 1 }]);
  const read = () => new Positions(store, 'records').load();
  expect((await read()).size).toBe(1);
  let isReplaced = false;
  await using watch = watchCorruption({
    store,
    logger: {
      info: () => undefined,
      warn: () => void (isReplaced = true),
      error: () => undefined,
    },
    report: () => undefined,
    disposable: [positionsTable],
    isServer: false,
  });
  watch.found({ table: positionsTable.name, part: 'all_1_1_0', reason: 'damaged' });
  while (!isReplaced) await Promise.all(Array.from({ length: 8 }, read));
  expect((await read()).size).toBe(0);
});
