/**
 * How long the gateway takes to its line `ready`, and what it needs at rest: `start.ts [starts]`. Each first start has a
 * data folder of its own, in which a second follows; then one stays for half a minute without a request.
 * Memory is the proportional set size of its process: without a function it has no child. Compare two checkouts in turns.
 */
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { treeCpuMs } from '../support/processor-time.ts';
import { spawned } from '../support/starts.ts';
import { percentile, report, round, withFolder } from './measure.ts';

const [starts = '5'] = process.argv.slice(2);
const restMs = 30_000;

interface Started {
  readonly pid: number;
  readonly ms: number;
  readonly cpuMs: number;
  readonly stop: () => Promise<unknown>;
}

async function started(dataDir: string): Promise<Started> {
  const began = performance.now();
  const child = spawned(dataDir);
  const pid = child.pid ?? 0;
  let out = '';
  for await (const text of child.stdout!.iterator({ destroyOnReturn: false })) {
    out += String(text);
    if (out.includes('"event":"ready"')) break;
  }
  const ms = performance.now() - began;
  if (child.exitCode !== null) throw new Error(`The gateway did not start:\n${out}`);
  child.stdout!.resume();
  const stop = () => {
    child.kill('SIGTERM');
    return once(child, 'exit');
  };
  return { pid, ms, cpuMs: treeCpuMs(pid), stop };
}

/** Of the process, in MB. */
function proportionalMb(pid: number): number {
  const text = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss: +(\d+) kB$/m.exec(text)?.[1]) / 1024;
}

await withFolder(async (folder) => {
  const kinds = { first: [] as Started[], later: [] as Started[] };
  for (let at = 0; at < Number(starts); at++) {
    const dataDir = join(folder, String(at));
    mkdirSync(dataDir);
    for (const kind of ['first', 'later'] as const) {
      const one = await started(dataDir);
      kinds[kind].push(one);
      await one.stop();
    }
  }
  const resting = await started(join(folder, '0'));
  // What a start leaves to be done.
  await setTimeout(restMs / 2);
  const before = treeCpuMs(resting.pid);
  await setTimeout(restMs);
  const restCpuMs = treeCpuMs(resting.pid) - before;
  const restMb = proportionalMb(resting.pid);
  await resting.stop();
  const median = (all: readonly number[]) => round(percentile(all, 50), 0);
  const of = (name: string, all: readonly Started[]) => ({
    [`${name}_start_ms`]: median(all.map(({ ms }) => ms)),
    [`${name}_start_cpu_ms`]: median(all.map(({ cpuMs }) => cpuMs)),
  });
  report({
    ...of('first', kinds.first),
    ...of('later', kinds.later),
    rest_memory_mb: round(restMb, 0),
    rest_cpu_percent_of_a_core: round((100 * restCpuMs) / restMs),
  });
});
