import { cp, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { roundsOf, someOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import {
  expectMore,
  expectSame,
  figures,
  rebuildRound,
} from '#test/support/judges/rebuild-rounds.ts';
import type { ToldRound } from '#test/support/processes/rebuild-child.ts';
import { transfer } from '#test/support/processes/transfer.ts';

const seed = seedOfRun();
console.log(`repartition test: SVC_TEST_SEED=${seed}`);
const random = seeded(seed);

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-repartition-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const data = (): string => join(folder, 'data');
const grow = (to: number, dataDir = data(), env = {}) =>
  transfer('repartition', String(to), dataDir, env);

/** Between two partitions that are copied, and between the steps that replace the log. */
const kills = [
  `repartition:copying@${1 + random.int(50)}`,
  ...[1, 2, 3, 4].map((nth) => `repartition:replacing@${nth}`),
];
const chosen = someOf(kills, roundsOf({ push: 2, all: kills.length }), seed);

describe('an embedded log with more partitions', () => {
  let before: ToldRound;
  beforeAll(async () => {
    before = await rebuildRound(data(), { seed, number: 1, calls: 40 });
    console.log(figures(before.left));
  });

  it('is refused where it would shrink, or where partitions would be mixed', async () => {
    await expect(grow(6)).rejects.toThrow('Set SVC_PARTITIONS to 4, 8, 12');
    await expect(grow(2)).rejects.toThrow('partitions can only grow');
    await expect(grow(0)).rejects.toThrow('a whole number from 1 to 1024');
    await expect(grow(8, join(folder, 'none'))).rejects.toThrow('no event log');
    expect(await grow(4)).toEqual({ event: 'repartition', from: 4, to: 4, messages: null });
  });

  it('is the former log or the new one after a kill, and is made by another attempt', async () => {
    for (const [at, point] of chosen.entries()) {
      const copy = join(folder, `killed-${at}`);
      await cp(data(), copy, { recursive: true });
      await expect(grow(8, copy, { SVC_TEST_FAULT_POINT: point })).rejects.toThrow();
      expect(await grow(8, copy), point).toMatchObject({ event: 'repartition', to: 8 });
      expect(await grow(8, copy)).toMatchObject({ from: 8, to: 8, messages: null });
      expect(await readdir(copy)).not.toContain('log.replaced');
    }
    await rm(data(), { recursive: true });
    await rename(join(folder, 'killed-0'), data());
  });

  it('has the same pages, histories and cursors, and goes on counting', async () => {
    expect(await grow(24)).toMatchObject({ from: 8, to: 24 });
    const env = { SVC_PARTITIONS: '24' };
    const after = await rebuildRound(data(), { seed, number: 2, calls: 15 }, 'whole', env);
    expectSame(after, before);
    expectMore(after);
    expect((await readdir(data())).filter((name) => name.startsWith('log'))).toEqual(['log']);
  });
});
