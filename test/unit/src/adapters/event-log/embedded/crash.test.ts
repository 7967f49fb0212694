import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keysOf, readAll } from '#test/support/worlds/log.ts';

const child = new URL('../../../../../support/processes/log-child.ts', import.meta.url).pathname;

interface Told {
  readonly appended?: number;
  readonly partition?: number;
  readonly offset?: number;
  readonly committed?: number;
  readonly refused?: number;
  readonly code?: string;
  readonly end?: number;
}

/** Runs the child until it ends or `enough` says so; then it is killed without warning. */
async function runChild(
  command: readonly string[],
  enough: (told: readonly Told[]) => boolean,
): Promise<Told[]> {
  const [program = '', ...args] = command;
  const process = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const closed = once(process, 'close');
  const told: Told[] = [];
  for await (const line of createInterface({ input: process.stdout })) {
    // The last line may be cut off by the kill.
    if (line.endsWith('}')) told.push(JSON.parse(line) as Told);
    if (enough(told)) process.kill('SIGKILL');
  }
  await closed;
  return told;
}

describe('a process that is killed while it appends', () => {
  it('loses nothing that was acknowledged and shows no part of a transaction', async () => {
    const random = seeded(seedOfRun());
    const why = `SVC_TEST_SEED=${random.seed}`;
    for (let round = 0; round < 3; round++) {
      await using folder = await temporaryFolder();
      const lines = 50 + random.int(400);
      const command = [process.execPath, child, folder.path, 'load'];
      const told = await runChild(command, (all) => all.length >= lines);
      await using embedded = await openEmbeddedLog({ directory: folder.path });
      const { log } = embedded;
      for (const { appended, partition = 0, offset } of told) {
        if (appended === undefined) continue;
        const at = (await readAll(log, 'appended', partition, offset)).slice(0, 3);
        expect(
          at.map(({ key }) => key),
          why,
        ).toEqual([0, 1, 2].map((i) => `${partition}/${appended}/${i}`));
        if (appended > 20) break;
      }
      for (const partition of [0, 1, 2]) {
        const acknowledged = told.filter((one) => one.partition === partition).length;
        const keys = await keysOf(log, 'appended', partition);
        expect(keys.length, why).toBeGreaterThanOrEqual(acknowledged * 3);
        expect(keys, why).toEqual(keys.map((_, i) => `${partition}/${Math.floor(i / 3)}/${i % 3}`));
      }
      const heads = await keysOf(log, 'heads');
      const changes = [...(await keysOf(log, 'changes', 0)), ...(await keysOf(log, 'changes', 1))];
      const last = told.findLast(({ committed }) => committed !== undefined)?.committed ?? 0;
      expect(heads.length, why).toBeGreaterThanOrEqual(last);
      expect(heads, why).toEqual(heads.map((_, i) => String(i + 1)));
      expect(
        changes.map(Number).sort((a, b) => a - b),
        why,
      ).toEqual(heads.map(Number));
      const position = (await log.committed('owners', 'appended')).get(0) ?? 0;
      expect(position, why).toBe(heads.length);
    }
  });

  it('loses nothing while a checkpoint is made beside its commits', async () => {
    const random = seeded(seedOfRun());
    await using folder = await temporaryFolder();
    const appends = 60 + random.int(30);
    const command = [process.execPath, child, folder.path, 'large'];
    const told = await runChild(command, (all) => all.length >= appends);
    await using embedded = await openEmbeddedLog({ directory: folder.path });
    const keys = await keysOf(embedded.log, 'appended');
    const why = `SVC_TEST_SEED=${random.seed}`;
    expect(keys.length, why).toBeGreaterThanOrEqual(told.length);
    expect(keys, why).toEqual(keys.map((_, i) => String(i)));
  });

  it.runIf(process.platform !== 'win32')(
    'with a full disk fails with that reason, and keeps everything before',
    async () => {
      await using folder = await temporaryFolder();
      // A limit on the size of files (in 512-byte blocks or KiB, by shell) stands for the full disk.
      const script = 'trap "" XFSZ; ulimit -f 4096; exec "$0" "$@"';
      const command = ['sh', '-c', script, process.execPath, child, folder.path, 'fill'];
      const told = await runChild(command, () => false);
      const [refused] = told;
      expect(refused?.code).toBe('log_full');
      expect(refused?.refused).toBeGreaterThan(5);
      await using embedded = await openEmbeddedLog({ directory: folder.path });
      const keys = await keysOf(embedded.log, 'appended');
      expect(keys).toEqual(Array.from({ length: refused?.end ?? 0 }, (_, i) => String(i)));
      expect(refused?.end).toBe(refused?.refused);
    },
  );
});
