import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startChild } from '../support/child.ts';
import { seedOfRun } from '../support/random.ts';
import {
  derived,
  expectMore,
  expectSame,
  figures,
  rebuildRound,
  remove,
} from '../support/rebuild-rounds.ts';

const seed = seedOfRun();
console.log(`rebuild test: SVC_TEST_SEED=${seed}`);

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-rebuild-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const round = (number: number, calls: number) => rebuildRound(folder, { seed, number, calls });

describe('a node of which all but the log is deleted', () => {
  it('gives the same pages and cursors, and goes on counting', async () => {
    let before = await round(1, 300);
    console.log(`${figures(before.left)} on the first start`);
    for (const [at, parts] of [['clickhouse'], ['state'], derived].entries()) {
      await remove(folder, parts);
      const after = await round(at + 2, 15);
      expectSame(after, before);
      expectMore(after);
      before = after;
    }
    console.log(`${figures(before.left)} in the end`);
  });

  it.each(['projector:after-insert', 'projector:after-position'])(
    'gives them too after it was killed while it rebuilt, at %s',
    async (point) => {
      const before = await round(1, 40);
      await remove(folder, derived);
      const env = { SVC_TEST_FAULT_POINT: point };
      const killed = startChild('./rebuild-child.ts', [folder, seed, 2, 0], env);
      killed.process.stdout.resume();
      expect(await killed.ended, killed.errors.join('\n')).toBe('SIGKILL');
      const after = await round(3, 5);
      expectSame(after, before);
      expectMore(after);
    },
  );
});
