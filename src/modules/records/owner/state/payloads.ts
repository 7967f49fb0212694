import type { DatabaseSync } from 'node:sqlite';
import type { AtRestEncryption, KeptPayload } from '../encryption.ts';
import { entryBytes, type PlacedPayload } from './payload-block.ts';
import { PayloadBlocks } from './payload-blocks.ts';

export interface PayloadPosition {
  readonly position: number;
  readonly id: string;
}

/** Pending payload of a position; null for a removed one, whatever the blocks have. */
type HeldPayload = PlacedPayload | null;

/** Pending payloads of one stream. */
class StreamPayloads {
  readonly #payloads = new Map<number, HeldPayload>();
  #positions: number[] | null = null;

  /** Undefined: only the blocks have it. */
  get(position: number): HeldPayload | undefined {
    return this.#payloads.get(position);
  }

  set(position: number, payload: HeldPayload | undefined): void {
    if (payload === undefined) this.#payloads.delete(position);
    else this.#payloads.set(position, payload);
    this.#positions = null;
  }

  /** Ascending. */
  get positions(): readonly number[] {
    return (this.#positions ??= [...this.#payloads.keys()].sort((a, b) => a - b));
  }
}

interface Change {
  readonly payloads: StreamPayloads;
  readonly position: number;
  readonly before: HeldPayload | undefined;
}

/** Limit of pending payloads: enough to fill some blocks, few enough to keep in memory. */
const heldMax = 4096;
const heldBytesMax = 4 * 1024 ** 2;

/**
 * The payloads of one partition. Writes are pending in memory, so that blocks are filled; a part in progress never
 * reaches the blocks, and is undone in memory.
 */
export class Payloads {
  readonly #blocks: PayloadBlocks;
  readonly #held = new Map<number, StreamPayloads>();
  #changes = 0;
  #bytes = 0;
  /** Changes of the part in progress; null between parts. */
  #part: Change[] | null = null;

  constructor(db: DatabaseSync, sealing: AtRestEncryption) {
    this.#blocks = new PayloadBlocks(db, sealing);
  }

  /** Begins a part, which `keep` or `undo` ends. */
  begin(): void {
    this.#writeWhenFull();
    this.#part = [];
  }

  keep(): void {
    this.#part = null;
  }

  undo(): void {
    for (const { payloads, position, before } of (this.#part ?? []).reverse()) {
      payloads.set(position, before);
    }
    this.#part = null;
  }

  put(stream: number, entry: PlacedPayload): void {
    this.#set(stream, entry.position, entry);
    this.#bytes += entryBytes(entry);
  }

  remove(stream: number, position: number): void {
    this.#set(stream, position, null);
  }

  read(stream: number, positions: readonly number[]): Map<number, KeptPayload> {
    const found = new Map<number, KeptPayload>();
    const payloads = this.#held.get(stream);
    const missing: number[] = [];
    for (const position of positions) {
      const existing = payloads?.get(position);
      if (existing === undefined) missing.push(position);
      else if (existing !== null) found.set(position, existing.payload);
    }
    this.#blocks.read(
      stream,
      missing.sort((a, b) => a - b),
      found,
    );
    return found;
  }

  /** By position, both ends inclusive; `withPayload` leaves out those whose payload is gone. */
  placed(
    stream: number,
    from: number,
    through: number,
    limit: number,
    withPayload: boolean,
  ): PayloadPosition[] {
    const placed: PayloadPosition[] = [];
    if (limit <= 0) return placed;
    const payloads = this.#held.get(stream);
    this.#blocks.scan(stream, from, through, (position, id, hasPayload) => {
      if (payloads?.get(position) !== undefined) return true;
      if (withPayload && !hasPayload()) return true;
      placed.push({ position, id: id() });
      return placed.length < limit;
    });
    if (payloads === undefined) return placed;
    const more = heldPlaced(payloads, from, through, limit, withPayload);
    if (more.length === 0) return placed;
    const all = [...placed, ...more].sort((a, b) => a.position - b.position);
    return all.slice(0, limit);
  }

  /** Writes all pending payloads into the blocks. */
  write(): void {
    for (const [stream, payloads] of this.#held) {
      const gone: number[] = [];
      const put: PlacedPayload[] = [];
      for (const position of payloads.positions) {
        const payload = payloads.get(position);
        if (payload == null) gone.push(position);
        else put.push(payload);
      }
      this.#blocks.remove(stream, gone);
      this.#blocks.put(stream, put);
    }
    this.#held.clear();
    this.#changes = 0;
    this.#bytes = 0;
  }

  #set(stream: number, position: number, payload: HeldPayload): void {
    if (this.#part === null) this.#writeWhenFull();
    const payloads = this.#heldOf(stream);
    this.#part?.push({ payloads, position, before: payloads.get(position) });
    payloads.set(position, payload);
    this.#changes++;
  }

  #writeWhenFull(): void {
    if (this.#changes >= heldMax || this.#bytes >= heldBytesMax) this.write();
  }

  #heldOf(stream: number): StreamPayloads {
    let payloads = this.#held.get(stream);
    if (payloads === undefined) this.#held.set(stream, (payloads = new StreamPayloads()));
    return payloads;
  }
}

function heldPlaced(
  payloads: StreamPayloads,
  from: number,
  through: number,
  limit: number,
  withPayload: boolean,
): PayloadPosition[] {
  const { positions } = payloads;
  const placed: PayloadPosition[] = [];
  for (let at = firstFrom(positions, from); at < positions.length; at++) {
    const position = positions[at] ?? 0;
    if (position > through || placed.length === limit) break;
    const entry = payloads.get(position);
    if (entry == null || (withPayload && entry.payload.encoding === 'none')) continue;
    placed.push({ position, id: entry.id });
  }
  return placed;
}

/** Index of the first of the ascending numbers that is at least `from`. */
function firstFrom(numbers: readonly number[], from: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}
