import type { Codec } from '#ports/schemas.ts';
import type { RecordCommandValue } from '../../model/commands.ts';
import type { StreamHeadValue } from '../../model/events.ts';
import type { StateStore } from './state-store.ts';
import { fromHead, newStream, type StreamState } from './stream-state.ts';

/** Streams in memory; one with an open pass stays, since its marks are only there. */
const keptMax = 20_000;

/** The streams of a partition that are in memory. */
export class Streams {
  readonly #store: StateStore;
  readonly #codec: Codec<StreamHeadValue>;
  readonly #kept = new Map<string, StreamState>();
  #fresh: string[] = [];

  constructor(store: StateStore, codec: Codec<StreamHeadValue>) {
    this.#store = store;
    this.#codec = codec;
  }

  /** The stream of the command; the first command of a stream creates it. */
  of(key: string, command: RecordCommandValue): StreamState {
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const existing = this.#store.stream(key);
    const no = existing?.no ?? this.#store.addStream(key);
    // A stream without a head was never decided on, or its head is lost: its numbers start again.
    const stream =
      existing?.head == null
        ? newStream(no, key, command)
        : fromHead(no, key, this.#codec.decode(existing.head), 0);
    if (existing === null) this.#fresh.push(key);
    this.#kept.set(key, stream);
    return stream;
  }

  /** A stream of the store, read from its head without keeping it in memory. */
  known(no: number, key: string, head: Uint8Array): StreamState {
    return this.#kept.get(key) ?? fromHead(no, key, this.#codec.decode(head), 0);
  }

  /** Adds a stream that was read from its head. */
  keep(stream: StreamState): void {
    this.#kept.set(stream.key, stream);
  }

  withPasses(): StreamState[] {
    return [...this.#kept.values()].filter(({ passes }) => passes.length > 0);
  }

  /** Call with every part of the store that `undo` may revert. */
  begin(): void {
    this.#fresh = [];
  }

  /** Drops the streams created since `begin`, as the store does. */
  undo(): void {
    for (const key of this.#fresh) this.#kept.delete(key);
  }

  /** The heads of all others are in the store: only `touched` ones may differ from theirs. */
  trim(touched: ReadonlySet<StreamState>): void {
    if (this.#kept.size <= keptMax) return;
    for (const [key, stream] of this.#kept) {
      if (stream.passes.length > 0 || touched.has(stream)) continue;
      this.#kept.delete(key);
      if (this.#kept.size <= keptMax / 2) return;
    }
  }
}
