import type { Instant } from '#kernel/time.ts';

/** A move of the group's position in one partition, requested by an operator. */
export interface PartitionReset {
  /** The same in all partitions of one request. */
  readonly id: string;
  /** Position of the group at the request. */
  readonly from: number;
  /** The next message to read. */
  readonly to: number;
  /** End of the partition at the request: messages before it count as replayed. */
  readonly until: number;
  /** Whether finished work is repeated, if the consumer can. */
  readonly isRepeat: boolean;
  readonly by: string;
  readonly at: Instant;
  /** When the holder of the partition moved there; null = not yet. */
  readonly appliedAt: Instant | null;
}
