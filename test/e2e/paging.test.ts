import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { judgeReader, judgeWalk, type ToldPaging } from '#test/support/judges/paging-judge.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { askChild } from '#test/support/processes/child.ts';
import { startGateway } from '#test/support/processes/gateway.ts';
import { openScanWorld, scansAsked } from '#test/support/worlds/scans.ts';

const seed = seedOfRun();
console.log(`paging test: SVC_TEST_SEED=${seed}`);

/** Of each writer. */
const calls = roundsOf({ push: 25, all: 120 });

describe('a run that updates what is scanned', () => {
  it('lets no scan end early or miss a record', async () => {
    const env = { SVC_RATE_LIMIT_PER_MINUTE: '0' };
    await using gateway = await startGateway({ env });
    await using scans = await openScanWorld([gateway]);
    for (const tally of (await scans.scan(scansAsked)).values())
      expect(tally).toMatchObject({ endedEarly: 0, missedSome: 0 });
  });
});

describe('a reader beside four writers and retention on one stream', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-paging-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it.each([
    { mode: 'plain', encoding: 'json' },
    { mode: 'sealed', encoding: 'json+deflate+aes256gcm' },
  ])('misses no modification and gets none twice, payloads $mode', async ({ mode, encoding }) => {
    const told = await askChild<ToldPaging>('./paging-child.ts', folder, [
      folder,
      seed,
      mode,
      calls,
    ]);
    const { seen, pages, polls, prunes, walks, changes } = told;
    console.log(
      `${mode}: ${changes.length} changes, ${seen.length} seen on ${pages} pages and ${polls} polls, ${prunes} pruned`,
    );
    judgeReader(told);
    for (const walk of walks) judgeWalk(walk, told);
    expect(walks[0]).toEqual(walks[1]);

    // The reader was there in time to see records that were modified again, and some were pruned.
    expect(seen.length).toBeGreaterThan(walks[0]!.length);
    expect(prunes).toBeGreaterThan(0);
    const encodings = changes.filter(({ payload }) => payload !== null).map((one) => one.encoding);
    expect(new Set(encodings)).toEqual(new Set([encoding]));
  });
});
