import { readFileSync } from 'node:fs';
import { treeOf } from '../support/processor-time.ts';
import { round, type Figures } from './measure.ts';

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
