import type { Output } from './output.ts';
import { progressLine } from './projections/progress.ts';

/** Reports phases: as a bar on a terminal, otherwise line by line. */
export function showProgress(output: Output, total: number): (phase: string) => void {
  let begun = 0;
  return (phase) => {
    const share = Math.min(1, begun / total);
    begun += 1;
    const progress = { phase, share, perSecond: null, secondsLeft: null };
    if (output.isWatched) output.status(progressLine(progress, true));
    else output.note(phase);
  };
}
