import { cp, rm, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { xorByte } from '#test/support/judges/wounds.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keptTopic, message, placed, readAll } from '#test/support/worlds/log.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const appends = 40;

/** The folder of a log as a process that is killed after its last acknowledgement leaves it. */
async function killedLog(folder: string): Promise<string> {
  const [running, killed] = [join(folder, 'running'), join(folder, 'killed')];
  await using embedded = await openEmbeddedLog({ directory: running });
  const { log } = embedded;
  await log.ensureTopics([keptTopic('t', 2)]);
  for (let n = 0; n < appends; n += 1) await log.append([placed('t', n % 2, message(`k-${n}`))]);
  await cp(running, killed, { recursive: true });
  return killed;
}

const wal = (directory: string) => join(directory, 'log.sqlite-wal');

const flipBit = (file: string, position: number): Promise<void> =>
  xorByte(file, position, 1 << random.int(8));

/** Opens it, and resolves with its messages. */
async function reopened(directory: string, onEndsDamaged = (_: string): void => undefined) {
  await using embedded = await openEmbeddedLog({ directory, onEndsDamaged });
  const found = await Promise.all([0, 1].map((at) => readAll(embedded.log, 't', at)));
  return found.flat();
}

describe('a log whose write-ahead file was damaged after a kill', () => {
  it.each<[string, (directory: string) => Promise<void>]>([
    ['deleted', (directory) => rm(wal(directory))],
    ['emptied', (directory) => truncate(wal(directory), 0)],
    [
      'deleted with the log itself',
      async (directory) => {
        await rm(wal(directory));
        await rm(join(directory, 'log.sqlite'));
      },
    ],
    [
      'cut',
      async (directory) => truncate(wal(directory), random.int((await stat(wal(directory))).size)),
    ],
    [
      'with one other bit in the last commit',
      async (directory) => flipBit(wal(directory), (await stat(wal(directory))).size - 1),
    ],
    [
      'with one other bit in its header',
      (directory) => flipBit(wal(directory), 8 + random.int(16)),
    ],
  ])('does not open, and names what is missing: %s', async (_, damage) => {
    await using folder = await temporaryFolder();
    const directory = await killedLog(folder.path);
    await damage(directory);
    await expect(reopened(directory)).rejects.toMatchObject({
      code: 'log_incomplete',
      message: expect.stringMatching(
        /^The event log lacks \d+ acknowledged messages, by offset: t\/[01] \d+ to \d+/,
      ) as string,
    });
  });

  it('stays as it is, so that the file can be put back', async () => {
    await using folder = await temporaryFolder();
    const directory = await killedLog(folder.path);
    await cp(wal(directory), join(folder.path, 'wal'));
    await rm(wal(directory));
    await expect(reopened(directory)).rejects.toThrow('lacks');
    await cp(join(folder.path, 'wal'), wal(directory));
    expect(await reopened(directory)).toHaveLength(appends);
  });
});

describe('a log whose evidence of acknowledged ends', () => {
  it('is missing, as in a folder of an earlier release, opens and writes it', async () => {
    await using folder = await temporaryFolder();
    const directory = await killedLog(folder.path);
    await rm(join(directory, 'acknowledged-ends'));
    expect(await reopened(directory)).toHaveLength(appends);
    expect((await stat(join(directory, 'acknowledged-ends'))).size).toBeGreaterThan(0);
  });

  it('is damaged opens, and says so once', async () => {
    await using folder = await temporaryFolder();
    const directory = await killedLog(folder.path);
    await flipBit(join(directory, 'acknowledged-ends'), 128 + 8);
    const damage: string[] = [];
    const noted = (text: string): void => void damage.push(text);
    expect(await reopened(directory, noted)).toHaveLength(appends);
    expect(await reopened(directory, noted)).toHaveLength(appends);
    expect(damage).toEqual([expect.stringContaining('acknowledged-ends is damaged')]);
  });
});
