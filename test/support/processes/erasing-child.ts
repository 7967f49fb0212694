/**
 * A process that writes and destroys values of an erasable topic of an embedded log until it is killed, and prints each
 * acknowledged one: `erasing-child.ts <directory> <seed>`.
 */
import { writeSync } from 'node:fs';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { seeded } from '../judges/random.ts';
import { message, placed } from '../worlds/log.ts';

const [directory = '', seed = '0'] = process.argv.slice(2);
const random = seeded(Number(seed));
const { log } = await openEmbeddedLog({ directory });
const cleanup = { policy: 'compact', minLagMs: 0, maxLagMs: 60_000, tombstoneMs: 60_000 } as const;
await log.ensureTopics([
  { name: 't', partitions: 1, cleanup: { ...cleanup, isErasable: true } },
  { name: 'beside', partitions: 1, cleanup: { policy: 'none' } },
]);
for (let n = 0; ; n++) {
  const key = `k${random.int(20)}`;
  const value = random.int(3) === 0 ? null : `v${n}`;
  await log.append([placed('t', 0, message(key, value))]);
  writeSync(1, `${JSON.stringify({ key, value })}\n`);
}
