import { describe, expect, it } from 'vitest';
import type { PartitionProgress } from '#control-plane/view-store.ts';
import { createCatchUp, PositionWaiters } from '#control-plane/view.ts';
import type { EventLog } from '#ports/event-log.ts';

/** A log with the given end, and a view that has applied `next`. */
function world() {
  const progress = new Map<number, PartitionProgress>();
  const waiting = new PositionWaiters(progress);
  let end = 0;
  let looks = 0;
  const log = {
    endOffset: async () => {
      looks += 1;
      return end;
    },
    startOffset: async () => 0,
  } as Partial<EventLog> as EventLog;
  const apply = (next: number): void => {
    progress.set(0, { partition: 0, next, decision: 0, epoch: 0 });
    waiting.progressed(0);
  };
  apply(0);
  const append = (to: number): void => void (end = to);
  return {
    caughtUp: createCatchUp({ log, partitions: 1, waiters: waiting }),
    apply,
    append,
    looks: () => looks,
  };
}

describe('catching up', () => {
  it('waits until what was in the log at the call is applied', async () => {
    const { caughtUp, apply, append } = world();
    append(2);
    let isDone = false;
    const waiting = caughtUp().then(() => (isDone = true));
    apply(1);
    await new Promise((resolve) => setImmediate(resolve));
    expect(isDone).toBe(false);
    apply(2);
    await waiting;
  });

  it('looks once for all who ask at the same time', async () => {
    const { caughtUp, looks } = world();
    await Promise.all([caughtUp(), caughtUp(), caughtUp()]);
    expect(looks()).toBe(1);
  });

  it('looks again for a caller that arrives during a look', async () => {
    const { caughtUp, apply, append, looks } = world();
    append(1);
    const first = caughtUp();
    await new Promise((resolve) => setImmediate(resolve));
    append(2);
    const second = caughtUp();
    apply(1);
    await first;
    apply(2);
    await second;
    expect(looks()).toBe(2);
  });
});
