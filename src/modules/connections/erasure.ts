import { isoMillis, type Instant } from '../../kernel/time.ts';
import type { ClosedStream } from '../records/commands.ts';
import type { ErasedStream, ErasureReceipt } from './events.ts';

const dayMs = 86_400_000;
/** The largest lag of compaction of `svc.records.v1`, and a day until its segment is rolled. */
const recordsGoneAfterMs = 30 * dayMs;
/** Retention of `svc.logs.v1`, and a day for its segment. */
const logsGoneAfterMs = 16 * dayMs;
/** Decided commands are deleted when they are a day old, looked for each hour. */
const commandsGoneAfterMs = dayMs + 3_600_000;

export function erasureReceipt(
  connectionUid: string,
  streams: readonly (ClosedStream & Pick<ErasedStream, 'model' | 'variant'>)[],
  at: Instant,
): ErasureReceipt {
  const by = (afterMs: number): string => isoMillis(at + afterMs);
  return {
    connection_uid: connectionUid,
    erased_at: isoMillis(at),
    unreadable_at_once: ['credentials', 'metadata', 'connection_config', 'sealed payloads'],
    gone_later: [
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
    records: streams.map(({ model, variant, plain, sealed, pruned }) => {
      return { model, variant, plain, sealed, pruned };
    }),
  };
}
