import type { HostCalls } from '../../../../ports/sandbox.ts';
import { parseArgs, shapes } from './arguments.ts';
import type { RuntimeDeps } from './deps.ts';

/** Limit of the log of one run; further lines are dropped with one notice. */
const linesMax = 10_000;
const charsMax = 10 * 1024 ** 2;

export function logCalls({ log }: RuntimeDeps): Pick<HostCalls, 'log'> {
  let linesLeft = linesMax;
  let charsLeft = charsMax;
  let isFull = false;
  return {
    log: async (args) => {
      if (isFull) return 'null';
      const { lines } = parseArgs(shapes.log, args);
      const kept = lines.filter(({ message, payload }) => {
        linesLeft -= 1;
        charsLeft -= message.length + (payload?.length ?? 0);
        return linesLeft >= 0 && charsLeft >= 0;
      });
      if (kept.length > 0) log.lines(kept);
      if (kept.length < lines.length) {
        isFull = true;
        const message = 'The log of this run is full; further lines are dropped.';
        log.lines([{ level: 'warn', message, payload: null }]);
      }
      return 'null';
    },
  };
}
