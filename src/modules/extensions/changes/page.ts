import { GatewayError } from '#kernel/errors.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { hasReached, movedTo, type FeedPosition, type ReadPartition } from './position.ts';
import { readChanges, type FeedQuery, type FeedServices } from './read-changes.ts';

/** Bytes of a page, which one change may exceed. */
const pageBytesMax = 8 * 1024 ** 2;
/** How long a page looks for a wanted change among others before it is answered without one. */
const searchMs = 5_000;

export interface PageOptions {
  readonly limit: number;
  /** How long to wait for a change at the end of the log; 0: not. */
  readonly waitMs: number;
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal;
}

export interface ChangesPage {
  /** JSON, in order. */
  readonly changes: readonly string[];
  readonly position: FeedPosition;
  /** Whether the log had more when the page was asked for. */
  readonly hasMore: boolean;
}

/**
 * The next changes. Answers as soon as it has some and everything before the end of the log was read, or when it is full.
 * @throws GatewayError `log_unavailable`
 */
export async function changesPage(
  services: FeedServices,
  query: FeedQuery,
  from: FeedPosition,
  { limit, waitMs, signal }: PageOptions,
): Promise<ChangesPage> {
  const ends = await services.log.endOffsets(recordsTopic);
  const changes: string[] = [];
  let position = from;
  let bytes = 0;
  const isFull = (): boolean => changes.length >= limit || bytes >= pageBytesMax;
  const isWhole = (): boolean => hasReached(position, ends) && (changes.length > 0 || waitMs === 0);
  if (isWhole()) return { changes, position, hasMore: false };
  using patience = new Patience(waitMs, () => hasReached(position, ends));
  const until = AbortSignal.any([signal, patience.signal]);
  for await (const batch of readChanges(services, query, from, ends, until)) {
    let last: ReadPartition = batch;
    for (const change of batch.changes) {
      changes.push(change.text);
      bytes += change.text.length;
      last = change;
      if (isFull()) break;
    }
    position = movedTo(position, isFull() ? last : batch);
    if (isFull() || isWhole()) break;
    patience.look();
  }
  // Half a page would look like the end.
  if (signal.aborted) throw new GatewayError('log_unavailable');
  return { changes, position, hasMore: !hasReached(position, ends) };
}

/** Ends a page without changes: at the end of the log after the caller's wait, before it after a longer one. */
class Patience implements Disposable {
  readonly #stop = new AbortController();
  readonly #waitMs: number;
  readonly #isAtEnd: () => boolean;
  readonly #since = performance.now();
  #timer: NodeJS.Timeout | undefined;

  constructor(waitMs: number, isAtEnd: () => boolean) {
    this.#waitMs = waitMs;
    this.#isAtEnd = isAtEnd;
    this.look();
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  look(): void {
    clearTimeout(this.#timer);
    const longestMs = this.#isAtEnd() ? this.#waitMs : Math.max(this.#waitMs, searchMs);
    const leftMs = this.#since + longestMs - performance.now();
    this.#timer = setTimeout(() => this.#stop.abort(), Math.max(0, leftMs));
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
  }
}
