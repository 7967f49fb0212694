import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { AtRestEncryption, KeptPayload } from '../encryption.ts';
import {
  Block,
  blockBytesMax,
  blockEntriesMax,
  decodePlaces,
  encodeBlock,
  encodePlaces,
  entryBytes,
  smallEntries,
  unreadable,
  type PlacedPayload,
} from './payload-block.ts';
import { arrayStatements } from './record-states.ts';

/** Directory entry of a block, without its data. */
interface BlockRow {
  readonly stream: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
  /** Bit of each entry that was removed. */
  readonly gone: number;
  /** Bytes before compression. */
  readonly size: number;
  readonly places: Uint8Array | null;
  readonly no: number;
}

type RowValues = [number, number, number, number, number, number, Uint8Array | null, number];

/** Bytes of decompressed blocks in memory. */
const cachedBytesMax = 16 * 1024 ** 2;

/** Removals are recorded in a narrow table: a change in that of the data would write kilobytes for a bit. */
export const blockTables = `
  CREATE TABLE IF NOT EXISTS payload_blocks (
    stream INTEGER, first INTEGER, last INTEGER, count INTEGER, gone INTEGER, size INTEGER, places BLOB,
    no INTEGER, PRIMARY KEY (stream, first)) WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS payload_data (no INTEGER PRIMARY KEY, data BLOB, secrets BLOB);`;

const columns = 'stream, first, last, count, gone, size, places, no';

/**
 * The payloads of each stream in blocks of neighbors, compressed together. Blocks of a stream do not overlap. A block
 * never changes except for removed entries: its replacement has another number.
 */
export class PayloadBlocks {
  readonly #db: DatabaseSync;
  readonly #sealing: AtRestEncryption;
  readonly #keys = new LRUCache<number, string>({ max: 1000 });
  readonly #statement: (sql: string) => StatementSync;
  readonly #cached = new LRUCache<number, Block>({
    maxSize: cachedBytesMax,
    sizeCalculation: ({ bytes }) => bytes,
  });
  #lastNo: number;

  constructor(db: DatabaseSync, sealing: AtRestEncryption) {
    this.#db = db;
    this.#statement = arrayStatements(db);
    this.#sealing = sealing;
    this.#lastNo = this.#number('SELECT max(no) FROM payload_data') ?? 0;
  }

  /** Puts the existing ones into `found`; positions ascend. */
  read(stream: number, positions: readonly number[], found: Map<number, KeptPayload>): void {
    let row: BlockRow | null = null;
    for (const position of positions) {
      if (row === null || position > row.last) row = this.#before(stream, position);
      const index = row === null ? -1 : indexOf(row, position);
      if (row === null || index < 0 || isGone(row, index)) continue;
      found.set(position, this.#block(row).payload(index));
    }
  }

  /** Calls `each` in the order of positions, both ends inclusive, until it returns false. */
  scan(
    stream: number,
    from: number,
    through: number,
    each: (position: number, id: () => string, hasPayload: () => boolean) => boolean,
  ): void {
    const before = this.#before(stream, from);
    let rows = before === null ? this.#rows(stream, from, through) : [before];
    while (rows.length > 0) {
      for (const row of rows) {
        const positions = decodePlaces(row.first, row.count, row.places);
        for (const [index, position] of positions.entries()) {
          if (position < from || isGone(row, index)) continue;
          if (position > through) return;
          const id = () => this.#block(row).id(index);
          const hasPayload = () => this.#block(row).hasPayload(index);
          if (!each(position, id, hasPayload)) return;
        }
      }
      const last = rows.at(-1)?.last ?? through;
      rows = last < through ? this.#rows(stream, last + 1, through) : [];
    }
  }

  /** The existing ones; positions ascend. */
  remove(stream: number, positions: readonly number[]): void {
    let row: BlockRow | null = null;
    let gone = 0;
    for (const position of positions) {
      if (row === null || position > row.last) {
        this.#settle(row, gone);
        row = this.#before(stream, position);
        gone = row?.gone ?? 0;
      }
      const index = row === null ? -1 : indexOf(row, position);
      if (index >= 0) gone = (gone | (1 << index)) >>> 0;
    }
    this.#settle(row, gone);
  }

  /** Positions ascend; existing entries at them are replaced. */
  put(stream: number, input: readonly PlacedPayload[]): void {
    const entries = this.#keepable(stream, input);
    let at = 0;
    while (at < entries.length) {
      const position = entries[at]?.position ?? 0;
      const bound = this.#after(stream, position);
      let end = at + 1;
      while (end < entries.length && (entries[end]?.position ?? 0) < bound) end++;
      this.#insert(stream, entries.slice(at, end));
      at = end;
    }
  }

  /** Entries between two firsts of blocks: into the block they fall into, or beside it. */
  #insert(stream: number, added: readonly PlacedPayload[]): void {
    const before = this.#before(stream, added[0]?.position ?? 0);
    if (before === null || (added[0]?.position ?? 0) > before.last) {
      this.#write(stream, added);
      return;
    }
    const merged = new Map(this.#entries(before).map((entry) => [entry.position, entry]));
    for (const entry of added) merged.set(entry.position, entry);
    this.#delete(before);
    this.#write(
      stream,
      [...merged.values()].sort((a, b) => a.position - b.position),
    );
  }

  /** Makes blocks of the entries, merged with small blocks before them. */
  #write(stream: number, added: readonly PlacedPayload[]): void {
    let entries = added;
    while (entries.length - added.length < blockEntriesMax) {
      const before = this.#before(stream, (entries[0]?.position ?? 0) - 1);
      if (before === null || !isExtended(before, entries.length)) break;
      entries = [...this.#entries(before), ...entries];
      this.#delete(before);
    }
    let from = 0;
    let bytes = 0;
    for (const [at, entry] of entries.entries()) {
      const more = entryBytes(entry);
      if (at > from && (at - from === blockEntriesMax || bytes + more > blockBytesMax)) {
        this.#add(stream, entries.slice(from, at));
        from = at;
        bytes = 0;
      }
      bytes += more;
    }
    if (from < entries.length) this.#add(stream, entries.slice(from));
  }

  #add(stream: number, entries: readonly PlacedPayload[]): void {
    const { data, secrets, size } = encodeBlock(entries, (group, plain) =>
      this.#sealing.seal(this.#key(stream), group, plain),
    );
    const positions = entries.map(({ position }) => position);
    const no = ++this.#lastNo;
    const count = positions.length;
    const [first = 0] = positions;
    const last = positions[count - 1] ?? 0;
    this.#statement('INSERT INTO payload_data VALUES (?, ?, ?)').run(no, data, secrets);
    this.#statement('INSERT INTO payload_blocks VALUES (?, ?, ?, ?, 0, ?, ?, ?)').run(
      stream,
      first,
      last,
      count,
      size,
      encodePlaces(positions),
      no,
    );
  }

  #delete({ stream, first, no }: BlockRow): void {
    this.#statement('DELETE FROM payload_blocks WHERE stream = ? AND first = ?').run(stream, first);
    this.#statement('DELETE FROM payload_data WHERE no = ?').run(no);
    this.#cached.delete(no);
  }

  /** Marks removed entries of the block, or rebuilds the block when few are left. */
  #settle(before: BlockRow | null, gone: number): void {
    if (before === null || before.gone === gone) return;
    const row = { ...before, gone };
    const live = liveOf(row);
    if (live * 4 > row.count) {
      this.#statement('UPDATE payload_blocks SET gone = ? WHERE stream = ? AND first = ?').run(
        gone,
        row.stream,
        row.first,
      );
      return;
    }
    const entries = live === 0 ? [] : this.#entries(row);
    this.#delete(row);
    if (live > 0) this.#write(row.stream, entries);
  }

  #entries(row: BlockRow): readonly PlacedPayload[] {
    const block = this.#block(row);
    const entries = decodePlaces(row.first, row.count, row.places).flatMap((position, index) =>
      isGone(row, index) ? [] : [{ position, id: block.id(index), payload: block.payload(index) }],
    );
    return this.#keepable(row.stream, entries);
  }

  /** Without the key of the connection, secrets can be neither sealed nor opened. */
  #keepable(stream: number, entries: readonly PlacedPayload[]): readonly PlacedPayload[] {
    const isSecret = ({ payload }: PlacedPayload): boolean => payload.encoding === 'secret';
    if (!entries.some(isSecret) || !this.#sealing.isGone(this.#key(stream))) return entries;
    return entries.map((entry) => (isSecret(entry) ? { ...entry, payload: unreadable } : entry));
  }

  /** The key of the stream with the number. */
  #key(stream: number): string {
    let key = this.#keys.get(stream);
    if (key === undefined) {
      const row = this.#statement('SELECT key FROM streams WHERE no = ?').get(stream);
      [key = ''] = row as unknown as [string];
      this.#keys.set(stream, key);
    }
    return key;
  }

  #block({ stream, no, size, count }: BlockRow): Block {
    const cached = this.#cached.get(no);
    if (cached !== undefined) return cached;
    const row = this.#statement('SELECT data, secrets FROM payload_data WHERE no = ?').get(no);
    const [data, secrets] = row as unknown as [Uint8Array, Uint8Array | null];
    const block = new Block({ data, secrets, size }, count, (group, sealed) =>
      this.#sealing.open(this.#key(stream), group, sealed),
    );
    this.#cached.set(no, block);
    return block;
  }

  /** The block that begins at the position or before it. */
  #before(stream: number, position: number): BlockRow | null {
    const values = this.#statement(
      `SELECT ${columns} FROM payload_blocks WHERE stream = ? AND first <= ? ORDER BY first DESC LIMIT 1`,
    ).get(stream, position) as RowValues | undefined;
    return values === undefined ? null : rowOf(values);
  }

  /** Where the next block after the position begins. */
  #after(stream: number, position: number): number {
    const sql = 'SELECT min(first) FROM payload_blocks WHERE stream = ? AND first > ?';
    return this.#number(sql, stream, position) ?? Infinity;
  }

  #rows(stream: number, from: number, through: number): BlockRow[] {
    const rows = this.#statement(
      `SELECT ${columns} FROM payload_blocks WHERE stream = ? AND first BETWEEN ? AND ?
       ORDER BY first LIMIT ${rowsPerQuestion}`,
    ).all(stream, from, through) as unknown as RowValues[];
    return rows.map(rowOf);
  }

  #number(sql: string, ...values: number[]): number | null {
    const row = this.#statement(sql).get(...values) as unknown as [number | null];
    return row[0];
  }
}

/** Enough for a slice of a pass. */
const rowsPerQuestion = 64;

function rowOf([stream, first, last, count, gone, size, places, no]: RowValues): BlockRow {
  return { stream, first, last, count, gone, size, places, no };
}

/** Index of the entry at the position; -1 for none. */
function indexOf({ first, last, count, places }: BlockRow, position: number): number {
  if (position < first || position > last) return -1;
  if (places === null) return position - first;
  return decodePlaces(first, count, places).indexOf(position);
}

function isGone({ gone }: BlockRow, index: number): boolean {
  return ((gone >>> index) & 1) === 1;
}

function liveOf({ count, gone }: BlockRow): number {
  let live = count;
  for (let bits = gone; bits !== 0; bits = (bits & (bits - 1)) >>> 0) live--;
  return live;
}

/**
 * Whether the block is rebuilt together with the following `added` entries. Single entries are gathered uncompressed
 * first, so that each is compressed two or three times at most.
 */
function isExtended(row: BlockRow, added: number): boolean {
  if (row.size >= blockBytesMax / 2) return false;
  return row.count < smallEntries || (added >= smallEntries && liveOf(row) <= blockEntriesMax / 2);
}
