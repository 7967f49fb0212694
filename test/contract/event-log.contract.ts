import { afterAll, describe } from 'vitest';
import type { EventLog } from '../../src/ports/event-log.ts';
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
export function eventLogContract(name: string, harness: EventLogHarness): void {
  describe(`EventLog contract: ${name}`, () => {
    afterAll(() => harness.close());
    messageContract(harness);
    readContract(harness);
    writerContract(harness);
    groupContract(harness);
    cleanupContract(harness);
  });
}
