import { GatewayError } from '#kernel/errors.ts';
import type { EventLog } from '#ports/event-log.ts';

/** The position of a group in one partition. Offsets have holes: `lag` is an upper bound of the messages. */
export interface PartitionPosition {
  readonly partition: number;
  /** Offset of the oldest message. */
  readonly start: number;
  /** Offset of the next message; null = the group has committed nothing yet. */
  readonly committed: number | null;
  /** Offset after the newest message. */
  readonly end: number;
  readonly lag: number;
}

/** The offsets that a partition holds. */
export type PartitionRange = Pick<PartitionPosition, 'partition' | 'start' | 'end'>;

/** @throws GatewayError `unknown_topic` */
export async function rangesOf(
  log: Pick<EventLog, 'startOffsets' | 'endOffsets'>,
  topic: string,
): Promise<PartitionRange[]> {
  // In this order: a range never begins after its end.
  const starts = await log.startOffsets(topic);
  const ends = await log.endOffsets(topic);
  return ends.map((end, partition) => ({ partition, start: starts[partition] ?? end, end }));
}

export async function positionsOf(
  log: EventLog,
  group: string,
  topic: string,
): Promise<PartitionPosition[]> {
  return positionsIn(log, { group, topic }, await rangesOf(log, topic));
}

/** As `positionsOf`, for ranges that are known. */
export async function positionsIn(
  log: EventLog,
  { group, topic }: { readonly group: string; readonly topic: string },
  ranges: readonly PartitionRange[],
): Promise<PartitionPosition[]> {
  const positions = await log.committed(group, topic);
  return ranges.map(({ partition, start, end }) => {
    const committed = positions.get(partition) ?? null;
    return { partition, start, committed, end, lag: end - standing({ start, committed }) };
  });
}

/** A position before the oldest message, or none, counts as the oldest message. */
const standing = ({ start, committed }: Pick<PartitionPosition, 'start' | 'committed'>): number =>
  Math.max(start, committed ?? start);

/** The target of a reset: the same for all partitions, except an offset, which belongs to one. */
export type Target = 'start' | 'end' | { readonly time: number } | { readonly offset: number };

/** A move in one partition: at most `replayed` messages are read again, or `skipped` ones are skipped. */
export interface Move {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  readonly until: number;
  readonly replayed: number;
  readonly skipped: number;
}

/**
 * The moves that bring the partitions to the target.
 * @throws GatewayError `invalid_body` for a partition that does not exist, an offset without one partition, or one
 *   outside of it
 */
export async function plannedMoves(
  log: EventLog,
  topic: string,
  positions: readonly PartitionPosition[],
  {
    to: target,
    partitions,
  }: { readonly to: Target; readonly partitions: readonly number[] | null },
): Promise<Move[]> {
  const wanted = partitions ?? positions.map(({ partition }) => partition);
  if (typeof target === 'object' && 'offset' in target && wanted.length !== 1) {
    throw wrong('to', 'An offset belongs to one partition: name it in partitions.');
  }
  return Promise.all(
    [...new Set(wanted)].map(async (number) => {
      const position = positions[number];
      if (position === undefined) {
        throw wrong('partitions', `${topic} has the partitions 0 to ${positions.length - 1}.`);
      }
      const to = await offsetOf(log, topic, position, target);
      const from = standing(position);
      const [replayed, skipped] = [Math.max(0, from - to), Math.max(0, to - from)];
      return { partition: number, from, to, until: position.end, replayed, skipped };
    }),
  );
}

async function offsetOf(
  log: EventLog,
  topic: string,
  { partition, start, end }: PartitionPosition,
  target: Target,
): Promise<number> {
  if (target === 'start') return start;
  if (target === 'end') return end;
  if ('time' in target) {
    return Math.min(end, Math.max(start, await log.offsetAt(topic, partition, target.time)));
  }
  if (target.offset < start || target.offset > end) {
    throw wrong('to', `Partition ${partition} of ${topic} has the offsets ${start} to ${end}.`);
  }
  return target.offset;
}

const wrong = (field: string, message: string): GatewayError =>
  new GatewayError('invalid_body', {
    message,
    errors: [{ code: 'invalid_value', message, path: [field] }],
  });
