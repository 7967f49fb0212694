import type { Micros } from '#kernel/time.ts';

/** State of one record for decisions; its payload is stored separately. */
export interface RecordState {
  /** Hex of the keyed hash of the payload; kept when the payload is pruned. */
  readonly hash: string;
  /** The stream's seq at the last modification. */
  readonly position: number;
  /** Changes of the record, from 1. */
  readonly version: number;
  readonly firstSeenAt: Micros;
  readonly modifiedAt: Micros;
  /** Null unless the record is deleted. */
  readonly deletedAt: Micros | null;
  /** Null while the payload exists. */
  readonly prunedAt: Micros | null;
}
