import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../../kernel/limits.ts';
import type { Clock, Instant } from '../../kernel/time.ts';
import type { EventLog, ReadMessage } from '../../ports/event-log.ts';

/** Key of a message that says nothing. */
export const fillerKey = '-';

/** Nodes do not all write at once; the first one's filler spares the others theirs. */
const spreadMs = 60_000;

export interface KeyFiller extends Disposable {
  /** Of the keys topic, in order. */
  saw(message: Pick<ReadMessage, 'key' | 'value' | 'timestamp'>): void;
}

/**
 * Only closed segments of a log are compacted, and only an append closes one: on an idle topic a key that was
 * destroyed would stay beside its tombstone. So an hour after the last tombstone, the longest that a segment is
 * open, one message more is appended, unless others came meanwhile.
 */
export function createKeyFiller(
  { log, clock, logger }: { log: EventLog; clock: Clock; logger: Logger },
  topic: string,
): KeyFiller {
  let shreddedAt: Instant | null = null;
  let timer: NodeJS.Timeout | null = null;

  const cancel = (): void => {
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };
  const fill = async (): Promise<void> => {
    timer = null;
    shreddedAt = null;
    try {
      const messages = [{ key: fillerKey, value: null, headers: {} }];
      await log.append([{ topic, partition: 0, messages }]);
    } catch (err) {
      logger.warn({ err }, 'the segment of destroyed keys stays open until the next key is made');
    }
  };

  return {
    saw({ key, value, timestamp }) {
      if (key !== fillerKey && value === null) {
        shreddedAt = timestamp;
        cancel();
        const left = timestamp + limits.keySegmentMs - clock.now();
        timer = setTimeout(() => void fill(), left <= 0 ? 0 : left + randomInt(spreadMs));
        timer.unref();
      } else if (shreddedAt !== null && timestamp >= shreddedAt + limits.keySegmentMs) {
        shreddedAt = null;
        cancel();
      }
    },
    [Symbol.dispose]: cancel,
  };
}
