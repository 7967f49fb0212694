import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '#kernel/errors.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { RecordReader } from '../read/reader.ts';
import { records } from './definition.ts';

/** One read of the end of a partition serves all requests within it. */
const lookEveryMs = 20;
const waitMaxMs = 5_000;
/** A log that takes longer to return its end is unavailable: it is not queried for `restMs`. */
const answerMaxMs = 1_000;
const restMs = 2_000;

/**
 * For tables that each process fills for itself while others take writes: resolves when everything that was in the log
 * at the call is readable here, so that a caller finds a change that another process announced. Without the log it
 * resolves at once.
 * @throws GatewayError `projection_unavailable` when the projector is more than 5 s behind
 */
export function createReadAtEnd(deps: {
  readonly log: Pick<EventLog, 'endOffset'>;
  readonly published: RecordReader['published'];
}): (partition: number) => Promise<void> {
  const next = new Map<number, Promise<void>>();
  const begun = new Map<number, number>();
  let awayUntil = 0;

  const endOf = async (partition: number): Promise<number> => {
    if (performance.now() < awayUntil) return 0;
    const answered = deps.log.endOffset(records.topic, partition).catch(() => null);
    const end = await Promise.race([answered, sleep(answerMaxMs, null)]);
    if (end === null) awayUntil = performance.now() + restMs;
    return end ?? 0;
  };

  const look = async (partition: number): Promise<void> => {
    const pause = (begun.get(partition) ?? -lookEveryMs) + lookEveryMs - performance.now();
    // Also without a pause: concurrent callers share the read.
    await (pause > 0 ? sleep(pause) : Promise.resolve());
    // The read of the end offset has begun: a later caller needs another read.
    next.delete(partition);
    begun.set(partition, performance.now());
    const end = await endOf(partition);
    const late = AbortSignal.timeout(waitMaxMs);
    await deps.published(partition, end, late).catch((cause: unknown) => {
      throw new GatewayError('projection_unavailable', { retryAfterS: 1 }, { cause });
    });
  };

  return (partition) => {
    const shared = next.get(partition) ?? look(partition);
    next.set(partition, shared);
    return shared;
  };
}
