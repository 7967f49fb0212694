/** Headers of a message; values are text. */
export type Headers = Readonly<Record<string, string>>;

export interface Message {
  readonly key: string;
  /** Null is a tombstone: after compaction the key is gone. */
  readonly value: Uint8Array | null;
  readonly headers: Headers;
  /** Milliseconds since the epoch; default: the log's clock. */
  readonly timestamp?: number;
}

/** A message as read. `headers` may be decoded on first access. */
export interface ReadMessage {
  readonly offset: number;
  readonly key: string;
  readonly value: Uint8Array | null;
  readonly headers: Headers;
  readonly timestamp: number;
}

/** Messages for one partition. They keep their order, and are contiguous when they have less than 1 MiB together. */
export interface PartitionMessages {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly Message[];
}

/** A position in a partition. Offsets are whole numbers below 2^53, ascend, and have gaps. */
export interface Position {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/**
 * Committed messages in order. `next` is the offset to continue from, also past gaps; a batch without messages
 * means that there was only a gap.
 */
export interface Batch {
  readonly topic: string;
  readonly partition: number;
  readonly messages: readonly ReadMessage[];
  readonly next: number;
}

export type Cleanup =
  /**
   * The last message of each key stays; older ones are removed once `minLagMs` old, by `maxLagMs` at the latest. In
   * an erasable topic the bytes of a superseded value are destroyed: within `EventLog.erasureMs` of the superseding
   * message, no file of the log can reveal them.
   */
  | {
      readonly policy: 'compact';
      readonly minLagMs: number;
      readonly maxLagMs: number;
      readonly tombstoneMs: number;
      readonly isErasable?: boolean;
    }
  /** Older messages are removed, even if a group has not read them. */
  | { readonly policy: 'delete'; readonly retentionMs: number }
  /** Kept until `deleteBefore`. */
  | { readonly policy: 'none' };

export interface TopicSpec {
  readonly name: string;
  readonly partitions: number;
  readonly cleanup: Cleanup;
}

export const isErasable = ({ cleanup }: Pick<TopicSpec, 'cleanup'>): boolean =>
  cleanup.policy === 'compact' && cleanup.isErasable === true;

/** Offsets up to which a group has consumed: the next one to read in each partition. */
export interface GroupPositions {
  readonly group: string;
  readonly positions: readonly Position[];
}

export interface FollowOptions {
  /** Ends the iteration, even while it waits. */
  readonly signal: AbortSignal;
  /** Upper bound of the values of one batch, in bytes; one message may exceed it. Default 4 MiB. */
  readonly maxBytes?: number;
}

/**
 * Called with the partition numbers that this member gains and loses; retained ones are not repeated. The same
 * number of every topic of the group is assigned together. Calls are sequential: the next waits for the promise of
 * the previous one. A throw is a bug of the caller and is left unhandled.
 */
export interface GroupHandler {
  /** Work on these may start. Called again, with another generation, when a partition comes back. */
  assigned(partitions: readonly number[], generation: number): void | Promise<void>;
  /**
   * Work on these must end; they are assigned to another member when the promise resolves, or after 10 s. Also
   * called with all held partitions when the membership is disposed of or the log is gone.
   */
  revoked(partitions: readonly number[]): void | Promise<void>;
}

export interface JoinOptions {
  /** False: no member commits positions, and the group ends with its last member. Default true. */
  readonly hasPositions?: boolean;
}

export interface Membership extends AsyncDisposable {
  readonly group: string;
}

/** A log as of one moment: everything that was committed until then, and nothing later. */
export interface LogSnapshot extends Pick<
  EventLog,
  'identity' | 'startOffsets' | 'endOffsets' | 'committed'
> {
  /** Reads from the position to the end of its partition. @throws GatewayError `log_corrupt` */
  read(from: Position): AsyncIterable<Batch>;
  /** The Avro schema, as JSON, with the id that frames values; null: there is none. */
  schema(id: number): string | null;
}

/**
 * Ordered, durable, partitioned topics: the only source of truth of the service. All reads are read-committed: what
 * a fenced or crashed writer had not committed is never seen.
 */
export interface EventLog extends AsyncDisposable {
  /**
   * How long superseded values of erasable topics may remain in files. 0 = they are destroyed when the append
   * resolves.
   */
  readonly erasureMs: number;

  /** Permanent name of this log. Another log has another name, even if it holds the same messages. */
  identity(): Promise<string>;

  /**
   * Creates missing topics. A topic that exists with other partitions or another cleanup is an error (`conflict`)
   * and is never altered.
   */
  ensureTopics(specs: readonly TopicSpec[]): Promise<void>;

  /** @throws GatewayError `unknown_topic` */
  partitions(topic: string): Promise<number>;

  /**
   * Durable when it resolves. No order and no atomicity across partitions, nor among messages of one `PartitionMessages` of
   * more than 1 MiB. Resolves with the offset of the first message of each.
   * @throws GatewayError `log_unavailable` after `timeoutMs` (default 30 s): may or may not be written; `log_full`:
   *   not written; `request_too_large`: a message has more than 4 MiB.
   */
  append(
    batch: readonly PartitionMessages[],
    options?: { readonly timeoutMs?: number },
  ): Promise<Position[]>;

  /**
   * Opens the only writer named `name`: a former holder of the name is fenced, and its next commit fails with
   * `writer_fenced`. Its uncommitted messages are never read.
   */
  openWriter(name: string): Promise<TransactionalWriter>;

  /** Offset of the oldest retained message (or of the next one, when there is none). */
  startOffset(topic: string, partition: number): Promise<number>;
  /** Offset after the newest committed message. */
  endOffset(topic: string, partition: number): Promise<number>;
  /** `startOffset` of every partition, by number, in as few requests as the log allows. @throws as `partitions` */
  startOffsets(topic: string): Promise<readonly number[]>;
  /** `endOffset` of every partition, likewise. @throws as `partitions` */
  endOffsets(topic: string): Promise<readonly number[]>;
  /** Offset of the first message at or after the time (ms), or the end offset. */
  offsetAt(topic: string, partition: number, timestamp: number): Promise<number>;

  /**
   * Reads from the positions on, without end; stops when the signal aborts. Positions before the start begin at the
   * start.
   */
  follow(from: readonly Position[], options: FollowOptions): AsyncIterable<Batch>;

  /** Reads from the position to the end offset at the time of the call, then ends. */
  read(from: Position, options?: Partial<FollowOptions>): AsyncIterable<Batch>;

  /**
   * Joins a group over topics with equal numbers of partitions. Partition numbers are spread over the members; a
   * number has at most one holder at a time among live members. The handler may be called before the promise
   * resolves.
   */
  join(
    group: string,
    topics: readonly string[],
    handler: GroupHandler,
    options?: JoinOptions,
  ): Promise<Membership>;

  /** Committed positions of the group for a topic, by partition; a partition without one is absent. */
  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>>;
  /** Outside a transaction. Durable when it resolves. */
  commit(positions: GroupPositions): Promise<void>;

  /**
   * Deletes the messages before the position permanently (they may remain readable for a while). For topics that
   * are not compacted.
   */
  deleteBefore(position: Position): Promise<void>;
}

export interface TransactionalWriter extends AsyncDisposable {
  /**
   * Appends the batch and moves the group's positions atomically; durable when it resolves, visible to readers then
   * or shortly after. Commits of one writer are applied in the order of the calls.
   * @throws GatewayError `writer_fenced`: nothing was written, open no writer of this name again unless the
   *   partition is reassigned; `log_full`: nothing was written; `log_unavailable`: may or may not be written,
   *   discard the writer and open a new one, which fences it.
   */
  commit(batch: readonly PartitionMessages[], positions?: GroupPositions): Promise<Position[]>;
}
