import { z } from 'zod';
import { cursorOf } from '#http/cursor.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import type { EventLog, Position } from '#ports/event-log.ts';
import type { MessagePlace } from './fields.ts';

const count = z.int().min(0);

/** Where a reader of the changes is: one for all partitions of the records topic. */
export interface FeedPosition {
  /** `EventLog.identity`: offsets mean nothing in another log. */
  readonly log: string;
  /** By partition, the offset of the next message. */
  readonly offsets: readonly number[];
  /** By partition, the highest epoch of an owner among the changes read: one of a lower epoch was fenced. */
  readonly epochs: readonly number[];
}

const partitionsMax = 10_000;
const ofPartitions = z.array(count).min(1).max(partitionsMax);
const cursor = cursorOf(z.tuple([z.string().min(1), ofPartitions, ofPartitions]));

/** The cursor of the position, which only this log understands. */
export const feedCursor = ({ log, offsets, epochs }: FeedPosition): string =>
  cursor.text([log, [...offsets], [...epochs]]);

/** Where a reader without a cursor begins. */
export type FeedStart = 'start' | 'end' | { readonly since: Instant };

/** @throws GatewayError `log_unavailable` */
export async function startOf(log: EventLog, from: FeedStart): Promise<FeedPosition> {
  const [identity, ends] = await Promise.all([log.identity(), log.endOffsets(recordsTopic)]);
  return { log: identity, offsets: await offsetsOf(log, from, ends), epochs: ends.map(() => 0) };
}

async function offsetsOf(
  log: EventLog,
  from: FeedStart,
  ends: readonly number[],
): Promise<readonly number[]> {
  if (from === 'end') return ends;
  if (from === 'start') return log.startOffsets(recordsTopic);
  return Promise.all(ends.map((_, partition) => log.offsetAt(recordsTopic, partition, from.since)));
}

/**
 * The position of a cursor.
 * @throws GatewayError `invalid_cursor_value`: it is none, or of another log; `log_unavailable`
 */
export async function positionOf(log: EventLog, text: string): Promise<FeedPosition> {
  const [ofLog, offsets, epochs] = cursor.parse(text);
  const [identity, ends] = await Promise.all([log.identity(), log.endOffsets(recordsTopic)]);
  if (ofLog !== identity) {
    const message =
      'The cursor is of another event log. Begin again with `from` and a time before the move: changes come again, and none is missed.';
    throw new GatewayError('invalid_cursor_value', { message });
  }
  const isOfTopic =
    offsets.length === ends.length &&
    epochs.length === ends.length &&
    offsets.every((offset, partition) => offset <= (ends[partition] ?? 0));
  if (!isOfTopic) throw new GatewayError('invalid_cursor_value');
  return { log: identity, offsets, epochs };
}

/** As the log is asked for it. */
export const logPositions = ({ offsets }: FeedPosition): Position[] =>
  offsets.map((offset, partition) => ({ topic: recordsTopic, partition, offset }));

/** How far a partition was read. */
export interface ReadPartition {
  readonly partition: number;
  /** Offset of the next message. */
  readonly next: number;
  /** The highest epoch so far. */
  readonly epoch: number;
}

export const movedTo = (
  position: FeedPosition,
  { partition, next, epoch }: ReadPartition,
): FeedPosition => ({
  ...position,
  offsets: position.offsets.with(partition, next),
  epochs: position.epochs.with(partition, epoch),
});

/** Whether everything before the ends of the partitions was read. */
export const hasReached = ({ offsets }: FeedPosition, ends: readonly number[]): boolean =>
  ends.every((end, partition) => (offsets[partition] ?? 0) >= end);

/** The place as a change has it. */
export const placeText = ({ partition, offset }: MessagePlace): string => `${partition}-${offset}`;

export const placePattern = /^(\d{1,5})-(\d{1,15})$/;

/** @param text matches `placePattern` */
export function placeOf(text: string): MessagePlace {
  const [, partition, offset] = placePattern.exec(text) ?? [];
  return { partition: Number(partition), offset: Number(offset) };
}
