import { readdirSync, readFileSync } from 'node:fs';

/** Linux counts processor time in hundredths of a second for programs. */
const tickMs = 10;

interface Stat {
  readonly pid: number;
  readonly parent: number;
  /** ms, with that of ended children that the process has waited for. */
  readonly ms: number;
}

/** Processor time that a process and its descendants have used so far, in ms (`/proc`, Linux). */
export const treeCpuMs = (root: number): number =>
  treeOf(root).reduce((sum, { ms }) => sum + ms, 0);

/** A process and its descendants. */
export function treeOf(root: number): readonly Stat[] {
  const stats = readdirSync('/proc').flatMap((name) => statOf(Number(name)));
  const members = new Set([root]);
  // A child may have a lower number than its parent.
  for (let before = 0; before !== members.size;) {
    before = members.size;
    for (const { pid, parent } of stats) if (members.has(parent)) members.add(pid);
  }
  return stats.filter(({ pid }) => members.has(pid));
}

/** Empty when it is no process, or has ended. */
function statOf(pid: number): Stat[] {
  if (!Number.isInteger(pid)) return [];
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return [];
  }
  // The name of the program before it may contain spaces.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [parent = 0] = fields.slice(1);
  const ticks = fields.slice(11, 15).reduce((sum, one) => sum + one, 0);
  return [{ pid, parent, ms: ticks * tickMs }];
}
