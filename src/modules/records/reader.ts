import type { StreamId } from './stream.ts';

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

/** The answer of `GET /records` as JSON text, spliced from stored payloads and never parsed. */
export interface Page {
  /** `{"records":[…],"next_cursor":…}` in UTF-8. */
  readonly body: Uint8Array;
  readonly records: number;
  readonly nextCursor: string | null;
}

/** Reads the projected records in the order of modification (spec section 4.1, contract/records.md). */
export interface RecordReader {
  /** @throws GatewayError `invalid_cursor_value`, `projection_unavailable` */
  page(query: PageQuery): Promise<Page>;
  /** The position a cursor of this API stands for. @throws GatewayError `invalid_cursor_value` */
  positionOf(stream: StreamId, cursor: string): Promise<number>;
  /** Live records by model of one connection and variant. */
  counts(streams: readonly StreamId[]): Promise<Map<string, number>>;
  /** Resolves when changes of `svc.records.v1` up to the offset (exclusive) can be read; rejects on abort. */
  published(partition: number, offset: number, signal: AbortSignal): Promise<void>;
}
