import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf, someOf } from '#test/support/judges/long-run.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import {
  derived,
  expectMore,
  expectSame,
  figures,
  rebuildRound,
  remove,
} from '#test/support/judges/rebuild-rounds.ts';
import { startChild } from '#test/support/processes/child.ts';
import type { ToldRound } from '#test/support/processes/rebuild-child.ts';

const seed = seedOfRun();
console.log(`rebuild test: SVC_TEST_SEED=${seed}`);

const removals = [
  { removed: 'its tables', parts: ['clickhouse'] },
  { removed: 'the state of its owners', parts: ['state'] },
  { removed: 'all of that', parts: derived },
];
const points = ['projector:after-insert', 'projector:after-position'] as const;

describe('a node of which all but the log is deleted', () => {
  let folder: string;
  let rounds = 0;
  /** What was there in the end of the last round. */
  let before: ToldRound;
  const round = (calls: number): Promise<ToldRound> => {
    rounds += 1;
    return rebuildRound(folder, { seed, number: rounds, calls });
  };
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-rebuild-'));
    before = await round(roundsOf({ push: 70, all: 300 }));
    console.log(`${figures(before.left)} on the first start`);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  async function expectSameAgain(calls: number): Promise<void> {
    const after = await round(calls);
    expectSame(after, before);
    expectMore(after);
    before = after;
  }

  it.each(someOf(removals, roundsOf({ push: 1, all: removals.length }), seed))(
    'gives the same pages and cursors, and goes on counting, without $removed',
    async ({ parts }) => {
      await remove(folder, parts);
      await expectSameAgain(15);
    },
  );

  it.each(someOf(points, roundsOf({ push: 1, all: points.length }), seed))(
    'gives them too after it was killed while it rebuilt, at %s',
    async (point) => {
      await remove(folder, derived);
      const env = { SVC_TEST_FAULT_POINT: point };
      rounds += 1;
      const killed = startChild('./rebuild-child.ts', [folder, seed, rounds, 0], env);
      killed.process.stdout.resume();
      expect(await killed.ended, killed.errors.join('\n')).toBe('SIGKILL');
      await expectSameAgain(5);
    },
  );
});
