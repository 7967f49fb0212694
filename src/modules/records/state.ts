import type { Micros } from '../../kernel/time.ts';

/** What the decisions about one record need to know of it; its payload is kept apart. */
export interface RecordState {
  /** Hex of the keyed hash of the payload; kept when the payload is pruned. */
  readonly hash: string;
  /** The stream's seq at the last modification. */
  readonly position: number;
  /** Changes in the life of the record, from 1. */
  readonly version: number;
  readonly firstSeenAt: Micros;
  readonly modifiedAt: Micros;
  /** Null while the record lives. */
  readonly deletedAt: Micros | null;
  /** Null while the payload is there. */
  readonly prunedAt: Micros | null;
}
