import { dayMs, isoMillis, type Instant } from '#kernel/time.ts';
import { keysTopic } from '#modules/access/vault/key-log.ts';
import type { ErasedStream, ErasureReceipt } from './events.ts';

/** The largest lag of compaction of `svc.records.v1`, and a day until its segment is rolled. */
const recordsGoneAfterMs = 30 * dayMs;
/** Retention of `svc.logs.v1`, and a day for its segment. */
const logsGoneAfterMs = 16 * dayMs;
/** Decided commands are deleted when they are a day old, looked for each hour. */
const commandsGoneAfterMs = dayMs + 3_600_000;

export function erasureReceipt(
  connectionUid: string,
  streams: readonly ErasedStream[],
  /** How long the wrapped data key may remain in the files of the log; 0 = it is unrecoverable. */
  keyGoneAfterMs: number,
  at: Instant,
): ErasureReceipt {
  const by = (afterMs: number): string => isoMillis(at + afterMs);
  const sealed = ['credentials', 'metadata', 'connection_config', 'sealed payloads'];
  const key = {
    topic: keysTopic,
    what: `the wrapped data key of ${sealed.join(', ')}, which no node uses any more`,
    gone_by: by(keyGoneAfterMs),
  };
  return {
    connection_uid: connectionUid,
    erased_at: isoMillis(at),
    unreadable_at_once: keyGoneAfterMs === 0 ? sealed : [],
    gone_later: [
      ...(keyGoneAfterMs === 0 ? [] : [key]),
      {
        topic: 'svc.records.v1',
        what: 'plain payloads, also of earlier versions, and the ids of records',
        gone_by: by(recordsGoneAfterMs),
      },
      {
        topic: 'svc.internal.record-commands.v1',
        what: 'plain payloads that were saved within the last day',
        gone_by: by(commandsGoneAfterMs),
      },
      {
        topic: 'svc.logs.v1',
        what: 'what functions wrote into the log themselves',
        gone_by: by(logsGoneAfterMs),
      },
    ],
    records: streams,
  };
}
