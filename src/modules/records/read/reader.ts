import { streamKey, type StreamId } from '../model/stream.ts';

export interface PageQuery {
  readonly stream: StreamId;
  /** Opaque; exclusive. Decoded and checked by the reader. */
  readonly cursor: string | null;
  /** RFC 3339, inclusive. */
  readonly modifiedAfter: string | null;
  /** Upper-case last actions; null = all. */
  readonly actions: readonly ('ADDED' | 'UPDATED' | 'DELETED')[] | null;
  readonly ids: readonly string[] | null;
  readonly limit: number;
}

/** How each condition of a page stands in its key. A condition without a line here does not compile. */
const conditions: {
  readonly [Name in Exclude<keyof PageQuery, 'cursor' | 'limit'>]: (
    value: PageQuery[Name],
  ) => unknown;
} = {
  stream: streamKey,
  modifiedAfter: (time) => time,
  actions: (actions) => actions && [...actions].sort(),
  ids: (ids) => ids && [...ids].sort(),
};

const conditionNames = Object.keys(conditions) as (keyof typeof conditions)[];

/** @returns the key of a walk: equal for queries that differ in cursor and limit only */
export const pageKey = (query: PageQuery): string =>
  JSON.stringify(conditionNames.map((name) => conditions[name](query[name] as never)));

/** The answer of `GET /records` as JSON text, spliced from stored payloads and never parsed. */
export interface Page {
  /** `{"records":[…],"next_cursor":…}` in UTF-8. */
  readonly body: Uint8Array;
  readonly records: number;
  readonly nextCursor: string | null;
  /** False where the stream has no records, deleted ones included. */
  readonly hasStream: boolean;
}

/** Reads the projected records in the order of modification (docs/reference/records.md). */
export interface RecordReader {
  /** @throws GatewayError `invalid_cursor_value`, `invalid_query_params` (not a time), `projection_unavailable` */
  page(query: PageQuery): Promise<Page>;
  /**
   * The position in a cursor of this API.
   * @throws GatewayError `invalid_cursor_value`
   */
  positionOf(stream: StreamId, cursor: string): Promise<number>;
  /** Records by model of one connection and variant that are not deleted. */
  counts(streams: readonly StreamId[]): Promise<Map<string, number>>;
  /** Resolves when changes of `svc.records.v1` up to the offset (exclusive) can be read; rejects on abort. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
  /** By partition of `svc.records.v1`, the first offset whose changes cannot be read yet. @throws GatewayError `projection_unavailable` */
  reached(): Promise<readonly number[]>;
}

/** Consecutive records of a stream as JSON text, to be cut into pages. */
export interface Slice {
  /** The records' JSON, joined by commas, in UTF-8. */
  readonly text: Uint8Array;
  /** End of each record in `text`. */
  readonly ends: Uint32Array;
  readonly positions: Float64Array;
  /** Modified times in µs. */
  readonly times: Float64Array;
  /** Fingerprint of the stream's generation; 0 for a stream that has no records. */
  readonly generation: bigint;
  /** At least one more record followed when this was read. */
  readonly hasMore: boolean;
  /** False when the stream was pruned, purged or rebuilt while this was read: do not keep it. */
  readonly isKeepable: boolean;
}

/** Streams by number (`streamNumber`), or all of them. */
export type DroppedStreams = readonly string[] | 'all';

/** Requests of the reader's thread to the thread that owns the tables: the reader without its read-ahead. */
export interface RecordSource extends Omit<RecordReader, 'page'> {
  /** Up to `limit` records; fewer with `hasMore` when they exceed the byte budget. Throws as `page`. */
  slice(query: PageQuery): Promise<Slice>;
  /**
   * Calls the listener with the streams that lost payloads or rows (deleted, pruned, purged) or were rebuilt, before
   * `published` resolves for these changes: rows read earlier must be dropped from memory.
   */
  onDropped(listener: (streams: DroppedStreams) => void): void;
}

/** Reads the tables of one generation. */
export interface TableSource extends RecordSource {
  /** The last position of the stream that the tables show. Throws as `page`. */
  newest(stream: StreamId): Promise<number>;
}
