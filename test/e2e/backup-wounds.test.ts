import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { messagesOf } from '#test/support/judges/backups.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { copyFolder, drawWound, inflict, textOfWound } from '#test/support/judges/wounds.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import { openCrmWorld, succeeded } from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
console.info(`SVC_TEST_SEED=${seed}`);
const rounds = Number(process.env['SVC_TEST_WOUNDS'] ?? roundsOf({ push: 3, all: 200 }));

let folder = '';
/** The messages of logs that were restored from whole files: from several backups, and from one of the whole log. */
const whole: Record<'backups' | 'fresh', unknown> = { backups: null, fresh: null };
const outcomes = new Map<string, Map<string, number>>();
const at = (name: string): string => join(folder, name);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-backup-wounds-'));
  await using world = await openCrmWorld();
  const { dataDir } = world.gateway;
  for (const mode of ['plain', 'sealed']) {
    const path = `/environments/${world.environmentId}`;
    const body = { payload_mode: mode };
    succeeded(await world.gateway.call('PATCH', path, { key: world.gateway.accountKey, body }));
    const crm = await world.connect();
    for (let n = 0; n < 2; n += 1) {
      crm.account.contacts = Array.from({ length: 30 }, (_, i) => ({ id: `${i + n}`, name: mode }));
      await crm.run('contacts');
      await transfer('backup', at('source/backups'), dataDir);
    }
  }
  world.gateway.process.kill('SIGKILL');
  await world.gateway.exited;
  await cp(dataDir, at('source/data'), { recursive: true });
  await transfer('backup', at('source/backups'), at('source/data'));
  await transfer('backup', at('fresh'), at('source/data'));
  await transfer('restore', at('source/backups'), at('of-backups'));
  await transfer('restore', at('fresh'), at('of-fresh'));
  whole.backups = await messagesOf(at('of-backups'));
  whole.fresh = await messagesOf(at('of-fresh'));
});
afterAll(async () => {
  console.table(
    Object.fromEntries([...outcomes].map(([kind, counts]) => [kind, Object.fromEntries(counts)])),
  );
  await rm(folder, { recursive: true, force: true });
});

/** A refusal that says which file or place is damaged. */
const names = (error: unknown): string => {
  const text = String(error);
  expect(text).toMatch(
    /The backup is damaged: (?:backups\.json|backups\/\S+\.json|data\/\S+\.log), |The event log is corrupt|The event log lacks|the event log is missing|has no event log|row-keys/,
  );
  return 'refused';
};

/** The outcome of a backup of the wounded log, and of the restore of wounded files. */
async function outcomeIn(wounded: string, of: keyof typeof whole): Promise<string> {
  const files = join(wounded, of);
  try {
    if (of === 'fresh') await transfer('backup', files, join(wounded, 'data'));
    await transfer('restore', files, join(wounded, 'restored'));
  } catch (error) {
    return names(error);
  }
  expect(await messagesOf(join(wounded, 'restored'))).toEqual(whole[of]);
  return 'whole';
}

describe('a wound of a log that is backed up, or of its backups', () => {
  it.each(Array.from({ length: rounds }, (_, round) => round))(
    'is named, or the restored log is whole: round %i',
    async (round) => {
      const random = seeded(seed + round);
      const wound = await drawWound(random, at('source'));
      const wounded = at('wounded');
      await copyFolder(at('source'), wounded);
      await inflict(wounded, wound);
      const text = `SVC_TEST_SEED=${seed}, round ${round}, ${textOfWound(wound)}`;
      try {
        const outcome = await outcomeIn(
          wounded,
          wound.kind === 'files of backups' ? 'backups' : 'fresh',
        );
        const counts = outcomes.get(wound.kind) ?? new Map<string, number>();
        outcomes.set(wound.kind, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
      } catch (error) {
        throw new Error(text, { cause: error });
      }
    },
  );
});
