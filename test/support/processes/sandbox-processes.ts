import { readdirSync, readFileSync } from 'node:fs';

/** Processes of the sandbox that the given one has started. */
export function childPids(parent = process.pid): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) === parent;
      } catch {
        return false;
      }
    })
    .filter((name) => readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('sandbox/child'))
    .map(Number);
}
