import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-faked-gateway-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const program = `
import { startFakedGateway } from '#cli/fakes/gateway-process.ts';
const gateway = await startFakedGateway({ definitions: {}, hostPort: '127.0.0.1:9', version: '1' });
console.log(gateway.url);
setInterval(() => {}, 1000);`;

/** A program with a gateway of fakes, in a group of processes of its own as a terminal has it. */
async function startProgram() {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    env: { ...process.env, TMPDIR: folder },
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [url] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid ?? 0, url: String(url).trim(), ended: once(child, 'exit') };
}

/** Whether a process listens there, whether or not it answers. */
const isUp = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.on('connect', () => socket.destroy());
  });

describe('a gateway of fakes', () => {
  // A Ctrl-C reaches every process of the group of the terminal; a closed terminal sends SIGHUP.
  it.each(['SIGINT', 'SIGHUP', 'SIGKILL'] as const)(
    'ends and leaves no folder when its program is ended by %s',
    async (signal) => {
      const { pid, url, ended } = await startProgram();
      expect(await isUp(url)).toBe(true);
      expect(readdirSync(folder)).toHaveLength(1);
      process.kill(-pid, signal);
      await ended;
      await expect.poll(() => isUp(url), { timeout: 10_000 }).toBe(false);
      await expect.poll(() => readdirSync(folder), { timeout: 10_000 }).toEqual([]);
      // What still ran would write its files again.
      await new Promise((resolve) => setTimeout(resolve, 1000));
      expect(readdirSync(folder)).toEqual([]);
    },
  );
});
