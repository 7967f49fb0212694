import type { GroupPositions, TopicSpec } from '#ports/event-log.ts';
import type { EncodedRow } from './row-format.ts';

/** Encoded messages for one partition. The rows' data is transferred to the log thread. */
export interface EncodedPlaced {
  readonly topic: string;
  readonly partition: number;
  readonly rows: readonly EncodedRow[];
}

interface EncodedCommit {
  readonly writer: string;
  readonly epoch: number;
  readonly placed: readonly EncodedPlaced[];
  readonly positions?: GroupPositions;
}

/** A message of the log thread to a member; `ticket` is returned with `released`. */
export interface PartitionAssignment {
  readonly member: string;
  readonly partitions: readonly number[];
  readonly generation: number;
}
export interface PartitionRevocation {
  readonly member: string;
  readonly partitions: readonly number[];
  readonly ticket: number;
}

export interface JoinRequest {
  readonly member: string;
  readonly group: string;
  readonly topics: readonly string[];
}

/** Ids of followed partitions that have grown, with their end offsets. */
export type Ends = readonly (readonly [partitionId: number, end: number])[];

/** Calls of a client; the method names of its port. */
export interface ClientMethods {
  ensureTopics(specs: readonly TopicSpec[]): Promise<void>;
  /** Returns the first offset of each `EncodedPlaced`. */
  append(placed: readonly EncodedPlaced[]): Promise<number[]>;
  commit(request: EncodedCommit): Promise<number[]>;
  openWriter(name: string): Promise<number>;
  commitPositions(positions: GroupPositions): Promise<void>;
  deleteBefore(topic: string, partition: number, offset: number): Promise<void>;
  registerSchema(subject: string, definition: string): Promise<number>;
  /** From now on the client is notified when these grow. */
  watch(partitionIds: readonly number[]): Ends;
  join(request: JoinRequest): Promise<void>;
  leave(member: string): void;
  released(member: string, ticket: number): void;
}

export interface CleanRequest {
  /** The reference time for ages, in ms. Default: now. */
  readonly now?: number;
}
