import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { treeCpuMs, treeOf } from '#test/support/processes/processor-time.ts';
import { round, type Figures } from './measure.ts';

/** How long a resting process is looked at. */
export const restMs = 30_000;

/** What a process and its descendants use of the processor while nothing is asked of them. */
export async function restingShare(name: string, pid: number): Promise<Figures> {
  const before = treeCpuMs(pid);
  await wait(restMs);
  return {
    [`${name}_cpu_percent_of_a_core`]: round((100 * (treeCpuMs(pid) - before)) / restMs),
  };
}

/**
 * Proportional set size of a process with its descendants, in MB: what they would give back together (`/proc`, Linux).
 * The part of files is code that the kernel may drop and read again.
 */
export function memoryOf(name: string, root: number): Figures {
  const texts = treeOf(root).flatMap(({ pid }) => rollupOf(pid));
  const sum = (field: string): number =>
    texts.reduce((total, text) => total + kbOf(text, field) / 1024, 0);
  return {
    [`${name}_memory_mb`]: round(sum('Pss'), 0),
    [`${name}_anonymous_mb`]: round(sum('Pss_Anon'), 0),
    [`${name}_files_mb`]: round(sum('Pss_File'), 0),
  };
}

const kbOf = (text: string, field: string): number =>
  Number(new RegExp(`^${field}: +(\\d+) kB$`, 'm').exec(text)?.[1]);

/** Empty when the process has ended. */
function rollupOf(pid: number): string[] {
  try {
    return [readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8')];
  } catch {
    return [];
  }
}
