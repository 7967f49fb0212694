import { randomInt } from 'node:crypto';
import type { Logger } from 'pino';
import { limits } from '../../../kernel/limits.ts';
import type { Clock, Instant } from '../../../kernel/time.ts';
import type { EventLog, ReadMessage } from '../../../ports/event-log.ts';

/** Key of a message without content. */
export const fillerKey = '-';

/** Random delay: the filler of the first node makes those of the other nodes unnecessary. */
const spreadMs = 15_000;

export interface KeyFiller extends Disposable {
  /** Messages of the keys topic, in order. */
  saw(message: Pick<ReadMessage, 'key' | 'value' | 'timestamp'>): void;
}

/**
 * Kafka compacts closed segments only, and only an append closes one, by the times of messages: on an idle topic a key
 * that was destroyed would stay beside its tombstone. So a minute after the last tombstone, the longest that a segment
 * is open, one message more is appended, unless others came meanwhile.
 */
export function createKeyFiller(
  { log, clock, logger }: { log: EventLog; clock: Clock; logger: Logger },
  topic: string,
): KeyFiller {
  /** The newest time in the log when the last key was destroyed: its segment began no later. */
  let shreddedAt: Instant | null = null;
  let newest: Instant = 0;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const fillIn = (ms: number): void => {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(() => void fill(), ms).unref();
  };
  const fill = async (): Promise<void> => {
    const closesAt = (shreddedAt ?? newest) + limits.keySegmentMs + 1;
    const timestamp = Math.max(clock.now(), closesAt);
    try {
      const messages = [{ key: fillerKey, value: null, headers: {}, timestamp }];
      await log.append([{ topic, partition: 0, messages }]);
    } catch (err) {
      logger.warn({ err }, 'the segment of destroyed keys could not be closed yet');
      if (shreddedAt !== null) fillIn(limits.keySegmentMs);
    }
  };
  const cancel = (): void => {
    shreddedAt = null;
    if (timer !== null) clearTimeout(timer);
    timer = null;
  };

  return {
    saw({ key, value, timestamp }) {
      newest = Math.max(newest, timestamp);
      if (key !== fillerKey && value === null) {
        shreddedAt = newest;
        const left = newest + limits.keySegmentMs - clock.now();
        fillIn(left <= 0 ? 0 : left + randomInt(spreadMs));
      } else if (shreddedAt !== null && timestamp > shreddedAt + limits.keySegmentMs) {
        cancel();
      }
    },
    [Symbol.dispose]() {
      isClosed = true;
      cancel();
    },
  };
}
