import type { DroppedLines } from '#ports/sandbox.ts';

const levels = ['debug', 'info', 'warn', 'error'] as const;

/** Says how many lines of a function's log were not kept, and what keeps them. */
export function droppedText({ level, isOwnLevel, counts }: DroppedLines): string {
  const some = levels.filter((one) => (counts[one] ?? 0) > 0);
  const total = some.reduce((sum, one) => sum + (counts[one] ?? 0), 0);
  const counted = some.map((one) => `${counts[one] ?? 0} ${one}`).join(' and ');
  const noun = total === 1 ? 'line was' : 'lines were';
  const lowest = some[0] ?? 'debug';
  const fix = isOwnLevel
    ? `the function set the level ${level} by setLogger.`
    : `the level is ${level}. To keep them for an hour, run svc logs keep or choose it in the console; for good, set the environment variable SVC_LOGGER_LEVEL to ${lowest}.`;
  return `${counted} ${noun} not kept: ${fix}`;
}
