import { execFile } from 'node:child_process';
import { platform } from 'node:os';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const module = new URL('../../../../../src/app/threads/thread-priority.ts', import.meta.url).href;

/** In a process of its own, which starts 3 steps back: what it lowers stays low. */
const script = `
  import { readdirSync, readFileSync } from 'node:fs';
  import { getPriority, setPriority } from 'node:os';
  import { Worker } from 'node:worker_threads';
  setPriority(0, 3);
  const { lowerThreadPriority, lowerPoolPriority } = await import('${module}');
  await lowerPoolPriority(10);
  await lowerPoolPriority(10);
  const pool = readdirSync('/proc/self/task')
    .filter((id) => readFileSync('/proc/self/task/' + id + '/comm', 'utf8').trim() === 'libuv-worker')
    .map((id) => getPriority(Number(id)));
  const worker = new Worker(
    "import { getPriority } from 'node:os'; import { parentPort } from 'node:worker_threads';" +
    "import { lowerThreadPriority } from '${module}';" +
    'lowerThreadPriority(5); lowerThreadPriority(5); parentPort.postMessage(getPriority(0));',
    { eval: true });
  worker.once('message', (thread) =>
    console.log(JSON.stringify({ thread, pool: [...new Set(pool)], main: getPriority(0) })));
`;

describe.runIf(platform() === 'linux')('threads that step back', () => {
  it('go after the main thread, however low that is, by their steps and no more', async () => {
    const args = ['--input-type=module', '--eval', script];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(JSON.parse(stdout)).toEqual({ main: 3, thread: 8, pool: [13] });
  });
});
