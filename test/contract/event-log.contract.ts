import { afterAll, describe, expect, it } from 'vitest';
import type { EventLog } from '#ports/event-log.ts';
import { cleanupContract } from './event-log.cleanup.ts';
import { groupContract } from './event-log.groups.ts';
import { messageContract } from './event-log.messages.ts';
import { readContract } from './event-log.reading.ts';
import { writerContract } from './event-log.writers.ts';

/** What a suite needs of an adapter. It owns names, eventual consistency and time. */
export interface EventLogHarness {
  /** Another client of the one log; several may be open at once. */
  open(): Promise<EventLog>;
  /** A topic or group name that nobody used before. */
  name(label: string): string;
  /** Returns when everything appended so far is readable. */
  settle(): Promise<void>;
  /** Stops the log, with all clients closed, and starts it again where the adapter can; else does nothing. */
  restart(): Promise<void>;
  /** Makes compaction happen as if a year had passed; may leave a hole at the end. */
  compact(): Promise<void>;
  /** Makes retention happen as if a year had passed. */
  expire(): Promise<void>;
  close(): Promise<void>;
}

/** The promises of `src/ports/event-log.ts`; every adapter passes the same. */
export function eventLogContract(name: string, newHarness: () => EventLogHarness): void {
  const harness = newHarness();
  describe(`EventLog contract: ${name}`, () => {
    afterAll(() => harness.close());
    identityContract(harness, newHarness);
    messageContract(harness);
    readContract(harness);
    writerContract(harness);
    groupContract(harness);
    cleanupContract(harness);
  });
}

function identityContract(harness: EventLogHarness, newHarness: () => EventLogHarness): void {
  const nameOf = async (one: EventLogHarness): Promise<string> => {
    await using log = await one.open();
    return await log.identity();
  };

  it('has one permanent name for all clients, which no other log has', async () => {
    const name = await nameOf(harness);
    expect(await nameOf(harness)).toBe(name);
    await harness.restart();
    expect(await nameOf(harness)).toBe(name);
    const other = newHarness();
    expect(await nameOf(other)).not.toBe(name);
    await other.close();
  });
}
