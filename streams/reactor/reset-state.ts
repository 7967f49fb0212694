import type { Instant } from '../../src/kernel/time.ts';

/** A move of the group's position in one partition, asked for by an operator. */
export interface PartitionReset {
  /** The same in all partitions of one request. */
  readonly id: string;
  /** Where the group stood when it was asked for. */
  readonly from: number;
  /** The next message to take. */
  readonly to: number;
  /** End of the partition when it was asked for: messages before it count as replayed. */
  readonly until: number;
  /** Whether finished work is done once more, where the consumer can. */
  readonly isRepeat: boolean;
  readonly by: string;
  readonly at: Instant;
  /** When the holder of the partition moved there; null = it has not yet. */
  readonly appliedAt: Instant | null;
}
