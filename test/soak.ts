/**
 * `npm run test:soak [-- rounds] [--services]`: 200 random rounds of the crash test on several data folders, two
 * at a time, with everything embedded or on Kafka, registry and Redis; prints seeds and counts.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { CrashRounds, faultPoints, killAt } from '#test/support/judges/crash-rounds.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { startOwnServices } from '#test/support/processes/own-services.ts';

const { positionals, values: options } = parseArgs({
  allowPositionals: true,
  options: { services: { type: 'boolean', default: false } },
});
const rounds = Number(positionals[0] ?? 200);
const roundsPerFolder = 20;
/** Data folders at a time: much of a round is waiting. */
const lanes = 2;
const firstSeed = seedOfRun();
// A third of the time that a node takes to start goes into compiling: the rounds share what came of it.
const compiled = await mkdtemp(join(tmpdir(), 'svc-compiled-'));
process.env['NODE_COMPILE_CACHE'] = compiled;
await using services = options.services ? await startOwnServices() : null;
if (services !== null)
  console.log(`on ${services.kafka.url}, ${services.registry.url}, ${services.redis.url}`);

let passed = 0;
let failed = 0;
let acknowledged = 0;
let nextRound = 0;

/** The rounds of one data folder. What a kill left is compared by the next round, or at the end. */
async function killOn(folder: string, start: number): Promise<void> {
  const seed = firstSeed + start;
  const random = seeded(seed);
  const node = new CrashRounds(folder, seed);
  for (let round = start; round < Math.min(start + roundsPerFolder, rounds); round += 1) {
    const isNamed = random.chance(50);
    const kill = isNamed
      ? killAt(random.pick(faultPoints), random)
      : { afterMs: 20 + random.int(800) };
    const acknowledgedNow = await node.round(kill);
    acknowledged += acknowledgedNow;
    passed += 1;
    console.log(
      `round ${round + 1}/${rounds} seed ${seed} ${JSON.stringify(kill)}: ${acknowledgedNow} acknowledged`,
    );
  }
  await node.compare();
}

async function lane(): Promise<void> {
  while (nextRound < rounds) {
    const start = nextRound;
    nextRound += roundsPerFolder;
    const folder = await mkdtemp(join(tmpdir(), 'svc-soak-'));
    try {
      await killOn(folder, start);
    } catch (error) {
      failed += 1;
      console.error(`seed ${firstSeed + start} failed:`, error);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
}

await Promise.all(Array.from({ length: lanes }, lane));
await rm(compiled, { recursive: true, force: true });

console.log(
  `\nfirst seed ${firstSeed}: ${acknowledged} acknowledged calls survived ${passed} kills`,
);
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
