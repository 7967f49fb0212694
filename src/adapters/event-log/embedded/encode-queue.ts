import { setImmediate as breathe } from 'node:timers/promises';
import type { Clock } from '#kernel/time.ts';
import type { PartitionMessages } from '#ports/event-log.ts';
import type { EncodedPlaced } from './protocol.ts';
import { encodeRow, type EncodedRow } from './row-format.ts';

/** Bounds of one row, which a reader decodes at once. A single larger message gets a row of its own. */
const rowMessagesMax = 1000;
const rowBytesMax = 1024 ** 2;

type Send<T> = (placed: readonly EncodedPlaced[], transfer: readonly ArrayBuffer[]) => Promise<T>;

/**
 * Encodes in the calling thread and sends in the order of the calls. More than one row is encoded in steps, so that
 * a large call does not block the thread.
 */
export class EncodeQueue {
  readonly #clock: Clock;
  readonly #isKept: (topic: string) => boolean;
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** `isKept`: whether messages of the topic are retained long enough to be worth compressing. */
  constructor(clock: Clock, isKept: (topic: string) => boolean) {
    this.#clock = clock;
    this.#isKept = isKept;
  }

  async run<T>(batch: readonly PartitionMessages[], send: Send<T>): Promise<T> {
    if (this.#waiting === 0 && isSmall(batch)) {
      const placed = batch.map((one) => {
        const rows: EncodedRow[] = [];
        for (const row of this.#rows(one)) rows.push(row);
        return { topic: one.topic, partition: one.partition, rows };
      });
      return send(placed, buffersOf(placed));
    }
    this.#waiting++;
    const turn = this.#last.then(async () => {
      try {
        const placed = await this.#inSteps(batch);
        // Wrapped, so that the next call is encoded while this one is in flight.
        return { sent: send(placed, buffersOf(placed)) };
      } finally {
        this.#waiting--;
      }
    });
    this.#last = turn.catch(() => undefined);
    return turn.then(({ sent }) => sent);
  }

  async #inSteps(batch: readonly PartitionMessages[]): Promise<EncodedPlaced[]> {
    const placed: EncodedPlaced[] = [];
    for (const one of batch) {
      const rows: EncodedRow[] = [];
      for (const row of this.#rows(one)) {
        rows.push(row);
        await breathe();
      }
      placed.push({ topic: one.topic, partition: one.partition, rows });
    }
    return placed;
  }

  *#rows({ topic, messages }: PartitionMessages): Generator<EncodedRow> {
    const isKept = this.#isKept(topic);
    const now = this.#clock.now();
    let from = 0;
    while (from < messages.length) {
      let target = from;
      let bytes = 0;
      while (target < messages.length && target - from < rowMessagesMax) {
        bytes += messages[target]?.value?.length ?? 0;
        if (bytes > rowBytesMax && target > from) break;
        target++;
      }
      yield encodeRow(messages, from, target, now, { isKept });
      from = target;
    }
  }
}

function isSmall(batch: readonly PartitionMessages[]): boolean {
  let bytes = 0;
  for (const { messages } of batch) {
    for (const { value } of messages) bytes += value === null ? 0 : value.length;
    bytes += messages.length * 64;
    if (bytes > rowBytesMax) return false;
  }
  return true;
}

function buffersOf(placed: readonly EncodedPlaced[]): ArrayBuffer[] {
  return placed.flatMap(({ rows }) => rows.map((row) => row.data));
}
