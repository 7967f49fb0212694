import { limits } from '#kernel/limits.ts';
import { minuteMs } from '#kernel/time.ts';
import type { RunLimits } from '#ports/sandbox.ts';

const common = {
  graceMs: limits.runGraceMs,
  heapMb: limits.sandboxHeapMb,
  outputBytes: limits.actionOutputBytesMax,
  hostCalls: limits.hostCallsMax,
} as const;

/** Limits by what is run (docs/reference/functions.md#limits). The processor time limit ends busy loops. */
export const runLimits = {
  sync: { ...common, wallMs: limits.syncRunMaxMs, cpuMs: 60 * minuteMs },
  action: { ...common, wallMs: limits.actionRunMaxMs, cpuMs: 5 * minuteMs },
  webhook: { ...common, wallMs: limits.webhookRunMaxMs, cpuMs: 5 * minuteMs },
  dryrun: { ...common, wallMs: limits.dryRunMaxMs, cpuMs: minuteMs },
  'on-event': { ...common, wallMs: limits.eventRunMaxMs, cpuMs: minuteMs },
  'on-change': { ...common, wallMs: limits.changeRunMaxMs, cpuMs: 5 * minuteMs },
} as const satisfies Readonly<Record<string, RunLimits>>;
