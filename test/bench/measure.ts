import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { programs } from '#cli/run-program.ts';

/** What one workload found: name to number; names end in their unit. */
export type Figures = Readonly<Record<string, number>>;

export async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Value below which `percent` of the samples lie (nearest rank). */
export function percentile(samples: readonly number[], percent: number): number {
  const sorted = samples.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? Number.NaN;
}

export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const p50p99 = (name: string, samples: readonly number[]): Figures => ({
  [`${name}_ms_p50`]: round(percentile(samples, 50)),
  [`${name}_ms_p99`]: round(percentile(samples, 99)),
});

/** A workload prints its figures as the last line of its output. */
export function report(figures: Figures): void {
  console.log(JSON.stringify(figures));
}

export function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}

/** Runs the workload of this folder in a process of its own. @returns its figures */
export function workload(name: string, ...args: readonly (string | number)[]): Figures {
  const file = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  process.stderr.write(`${name} ${args.join(' ')} …\n`);
  // As `npm start` starts the service: records are many short-lived strings.
  const output = execFileSync(process.execPath, [...programs.main, file, ...args.map(String)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 ** 2,
  });
  return JSON.parse(output.trim().split('\n').at(-1) ?? '{}') as Figures;
}
