import type { DroppedLines, LogLevel } from '#ports/sandbox.ts';

/** Levels by their slot in the counts that an isolate shares with its process. */
const logLevels = ['debug', 'info', 'warn', 'error'] as const satisfies LogLevel[];
/** Slot of the level of the log; `off` is the number behind the last level. */
export const levelSlot = 4;
/** 1 when the function chose the level. */
export const ownLevelSlot = 5;
export const droppedSlots = 6;

/** Undefined when no line was dropped. The numbers are untrusted. */
export function droppedLines(slots: Int32Array): DroppedLines | undefined {
  const counted = logLevels.flatMap((level, slot): [LogLevel, number][] => {
    const count = slots[slot] ?? 0;
    return count > 0 ? [[level, count]] : [];
  });
  if (counted.length === 0) return undefined;
  return {
    level: logLevels[slots[levelSlot] ?? 0] ?? 'off',
    isOwnLevel: slots[ownLevelSlot] === 1,
    counts: Object.fromEntries(counted),
  };
}
