import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import {
  derived,
  expectSame,
  figures,
  rebuildRound,
  remove,
} from '#test/support/judges/rebuild-rounds.ts';
import { askChild } from '#test/support/processes/child.ts';
import type { ToldAgain, ToldEmptied } from '#test/support/processes/emptied-child.ts';
import type { ToldPage } from '#test/support/processes/node-child.ts';
import type { ReadRecord } from '#test/support/worlds/projection.ts';

const seed = seedOfRun();
console.log(`compaction test: SVC_TEST_SEED=${seed}`);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-compacted-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

it('a node of which all but the compacted log is deleted gives the same pages and cursors', async () => {
  const data = join(folder, 'compacted');
  const before = await rebuildRound(
    data,
    { seed, number: 1, calls: roundsOf({ push: 50, all: 100 }) },
    'compacted',
  );
  await remove(data, derived);
  const after = await rebuildRound(data, { seed, number: 2, calls: 15 });
  console.log(`${figures(before.left)} in the compacted log`);
  expectSame(after, before);
});

describe('a stream that was emptied, its tombstones compacted, and is written again', () => {
  const writer = './emptied-child.ts';
  let emptied: ToldEmptied;
  beforeAll(async () => {
    const data = join(folder, 'emptied');
    emptied = await askChild<ToldEmptied>(writer, data, ['empty', data]);
    expect(emptied.messages).toBe(0);
  });

  it.each([
    { deleted: 'nothing', parts: [] },
    { deleted: 'all stores', parts: derived },
  ])(
    'goes on counting, and old cursors go on, with $deleted deleted',
    async ({ deleted, parts }) => {
      const data = join(folder, deleted);
      await cp(join(folder, 'emptied'), data, { recursive: true });
      await remove(data, parts);
      const again = await askChild<ToldAgain>(writer, data, ['again', data, ...emptied.cursors]);

      const { seq, generation, lastModifiedAt } = emptied;
      expect(again.changes).toMatchObject([
        { id: 'r3', seq: seq + 1, action: 'added', generation },
        { id: 'r100', seq: seq + 2, action: 'added', generation },
        { id: 'r101', seq: seq + 3, action: 'added', generation },
        { id: 'r100', seq: seq + 4, action: 'updated', generation },
      ]);
      expect(Math.min(...again.changes.map((one) => one.modifiedAt))).toBeGreaterThan(
        lastModifiedAt,
      );
      for (const { before, singles, whole } of again.continuations) {
        expect(before).toEqual({ body: '{"records":[],"next_cursor":null}', next: null });
        const records = recordsIn(whole);
        expect(records.map(({ id }) => id)).toEqual(['r3', 'r101', 'r100']);
        expect(singles.flatMap(recordsIn)).toEqual(records);
        expect(records.map((record) => record._svc_metadata.last_action)).toEqual([
          'ADDED',
          'ADDED',
          'UPDATED',
        ]);
      }
    },
  );
});

function recordsIn({ body }: ToldPage): ReadRecord[] {
  return (JSON.parse(body) as { records: ReadRecord[] }).records;
}
