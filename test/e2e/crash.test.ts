import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CrashRounds, faultPoints, killAt } from '#test/support/judges/crash-rounds.ts';
import { roundsOf, someOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';

const seed = seedOfRun();
console.log(`crash test: SVC_TEST_SEED=${seed}`);

/** A start over services takes seconds. `npm run test:soak` runs many more rounds. */
const pointCount = isOnServices() ? 3 : roundsOf({ push: 2, all: faultPoints.length });
const points = someOf(faultPoints, pointCount, seed);
const randomRounds = isOnServices() ? 3 : roundsOf({ push: 2, all: 10 });

describe('a node killed with SIGKILL while it saves', () => {
  let folder: string;
  let rounds: CrashRounds;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-crash-'));
    rounds = new CrashRounds(folder, seed);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it.each(points)('loses and doubles nothing when it dies at %s', async (point) => {
    await rounds.round(killAt(point, seeded(seed + point.length)));
    await rounds.compare();
  });

  it(
    `loses and doubles nothing in ${randomRounds} rounds at random times`,
    { timeout: 300_000 },
    async () => {
      const random = seeded(seed);
      let acknowledged = 0;
      for (let round = 0; round < randomRounds; round += 1) {
        acknowledged += await rounds.round({ afterMs: 50 + random.int(1_500) });
      }
      await rounds.compare();
      expect(acknowledged).toBeGreaterThan(0);
    },
  );
});
