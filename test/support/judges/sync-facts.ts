/** Facts of one sync of one connection, for given / when / then. */
import { GatewayError } from '#kernel/errors.ts';
import { hourMs } from '#kernel/time.ts';
import { sync, type SyncCommand } from '#modules/functions/syncs/decider.ts';
import type { SyncEvent } from '#modules/functions/syncs/events.ts';
import { slotAfter, type SyncInstance } from '#modules/functions/syncs/state.ts';

export const t0 = Date.UTC(2026, 0, 1);
export const born = {
  id: '7b0cbd43-9b53-4d5c-8d0c-3f6f8a1f7d11',
  environmentUid: 'env',
  integrationKey: 'crm',
  connectionId: 'acme',
  connectionUid: 'uid-1',
  syncName: 'contacts',
  variant: 'base',
  models: ['Contact'],
  functionVersion: '1',
  frequencyMs: hourMs,
} as const;
export const create = (more: object = {}): SyncCommand => ({
  ...born,
  type: 'Create',
  autoStart: true,
  runId: 'r1',
  isConnectionLive: true,
  at: t0,
  ...more,
});
export const created: SyncEvent = { ...born, type: 'InstanceCreated', at: t0 };
export const fresh = sync.evolve(null, created)!;
export const due = (after: number): SyncEvent => ({
  type: 'DueTimeSet',
  nextDueAt: slotAfter(fresh, after),
});
export const scheduled: SyncEvent[] = [created, { type: 'ScheduleStarted' }, due(t0)];
export const queued = (runId: string, at = t0, more: object = {}): SyncEvent => ({
  type: 'RunQueued',
  runId,
  at,
  startBy: at + hourMs,
  trigger: 'api',
  emptyCache: false,
  ...more,
});
export const started = (runId: string, at = t0 + 10, attempt = 1): SyncEvent => ({
  type: 'RunStarted',
  runId,
  attempt,
  at,
  runner: 'p1',
});
export const counts = [{ model: 'Contact', added: 1, updated: 0, deleted: 0, unchanged: 4 }];
export const positions = [{ model: 'Contact', partition: 1, offset: 9 }];
export const ended = (
  runId: string,
  at: number,
  status: 'succeeded' | 'failed' = 'succeeded',
  attempt = 1,
) =>
  ({
    type: 'RunEnded',
    runId,
    attempt,
    at,
    status,
    counts: status === 'succeeded' ? counts : [],
    positions: status === 'succeeded' ? positions : [],
    error: status === 'succeeded' ? null : { code: 'script_internal_error', message: 'no' },
  }) as const satisfies SyncEvent;
export const cancelled = (runId: string, at: number, attempt = 1): SyncEvent => ({
  type: 'RunEnded',
  runId,
  attempt,
  at,
  status: 'cancelled',
  counts: [],
  positions: [],
  error: { code: 'script_aborted', message: 'The run was cancelled.' },
});

export const stateAfter = (...events: SyncEvent[]): SyncInstance =>
  events.reduce<SyncInstance | null>((state, event) => sync.evolve(state, event), null)!;
export const refusal = (command: SyncCommand, state: SyncInstance | null): string => {
  try {
    sync.decide(command, state);
  } catch (error) {
    if (error instanceof GatewayError) return error.code;
    throw error;
  }
  return 'accepted';
};
