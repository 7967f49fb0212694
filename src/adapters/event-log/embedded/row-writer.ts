import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { ReadMessage } from '#ports/event-log.ts';
import { corrupted } from './corruption.ts';
import {
  crcAtPlace,
  decodeRow,
  DirectoryView,
  encodeRow,
  isIntact,
  type EncodedRow,
  type StoredRow,
} from './row-format.ts';
import type { RowKeys } from './row-keys.ts';
import { isSealed, openRow, sealRow, slotOf, type OffsetRange } from './sealed-row.ts';

/** A row as in its table. */
type Row = StoredRow & { readonly id: number; readonly horizon: number | null };

interface Target {
  readonly id: number;
  readonly isErasable: boolean;
}

/** Position of the newest message of a key. */
interface NewestRow {
  readonly rowId: number;
  readonly offset: number;
}

/**
 * Writes rows, inside the transaction of the caller. Rows of erasable partitions that hold values are sealed, each
 * under a key of its own. A new message there removes the superseded one from its row at once, which destroys the
 * key of that row.
 */
export class RowWriter {
  readonly #db: DatabaseSync;
  readonly #keys: RowKeys;
  /** Per erasable partition id: the newest message of each key. */
  readonly #newest = new Map<number, Map<string, NewestRow>>();
  /** Rows with superseded messages, and their partitions. */
  readonly #superseded = new Map<number, number>();
  readonly #insertRow: StatementSync;
  readonly #deleteRow: StatementSync;
  readonly #updateHorizon: StatementSync;
  readonly #rowById: StatementSync;

  constructor(db: DatabaseSync, keys: RowKeys) {
    this.#db = db;
    this.#keys = keys;
    this.#insertRow = db.prepare(`INSERT INTO batches
      (partition, base, next, count, bytes, codec, crc, newest, peak, directory, body)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#deleteRow = db.prepare('DELETE FROM batches WHERE id = ?');
    this.#updateHorizon = db.prepare('UPDATE batches SET horizon = ? WHERE id = ?');
    this.#rowById = db.prepare(
      'SELECT id, base, next, codec, crc, horizon, directory, body FROM batches WHERE id = ?',
    );
  }

  /** Reads the content of the erasable partitions. Keys that no row needs are destroyed. */
  load(erasable: readonly number[]): void {
    this.#newest.clear();
    this.#superseded.clear();
    const rows = this.#db.prepare(`SELECT id, base, codec, directory, substr(body, 1, 4) AS body
      FROM batches WHERE partition = ? ORDER BY next`);
    const used = new Set<number>();
    for (const partition of erasable) {
      for (const found of rows.iterate(partition)) {
        const row = found as unknown as Row;
        if (isSealed(row)) used.add(slotOf(row.body));
        this.#note(partition, row);
      }
    }
    this.#keys.keepOnly(used);
  }

  /**
   * Opens every row of an erasable partition, to find all corrupt rows and keys at once.
   * @throws GatewayError `log_corrupt` that names `where`
   */
  mustOpen(partition: number, where: string): void {
    const rows = this.#db.prepare(
      'SELECT base, next, codec, crc, directory, body FROM batches WHERE partition = ? ORDER BY next',
    );
    for (const row of rows.iterate(partition)) {
      this.#opened(partition, row as unknown as StoredRow, where);
    }
  }

  insert(
    { id: partition, isErasable }: Target,
    row: EncodedRow,
    base: number,
    next: number,
    peak: number,
  ): void {
    const stored = this.#stored(row, { partition, base, next }, isErasable && row.bytes > 0);
    const inserted = this.#insertRow.run(
      ...[partition, base, next, row.count, row.bytes, stored.codec, stored.crc],
      ...[row.newest, peak, stored.directory, stored.body],
    );
    if (!isErasable) return;
    const { codec, directory } = stored;
    this.#note(partition, { id: Number(inserted.lastInsertRowid), base, codec, directory });
    this.eraseSuperseded();
  }

  /** Removes superseded messages from the erasable partitions. */
  eraseSuperseded(): void {
    for (const [rowId, partition] of this.#superseded) {
      const newest = this.#newest.get(partition);
      this.keep(partition, rowId, ({ key, offset }) => newest?.get(key)?.offset === offset);
    }
    this.#superseded.clear();
  }

  setHorizon(rowId: number, horizon: number | null): void {
    this.#updateHorizon.run(horizon, rowId);
  }

  /** Reduces the row, if it still exists, to the messages to keep; an empty row is deleted. */
  keep(
    partition: number,
    rowId: number,
    isKept: (message: ReadMessage) => boolean,
    horizon?: number | null,
  ): void {
    const row = this.#rowById.get(rowId) as unknown as Row | undefined;
    if (row === undefined) return;
    const all = decodeRow(this.#opened(partition, row), 0);
    const messages = all.filter(isKept);
    const until = horizon === undefined ? row.horizon : horizon;
    if (messages.length === all.length) {
      this.setHorizon(rowId, until);
      return;
    }
    if (isSealed(row)) this.#keys.release(slotOf(row.body));
    if (messages.length === 0) this.#deleteRow.run(rowId);
    else this.#replace(partition, row, messages, until);
  }

  #opened(partition: number, row: StoredRow, where: string = `partition ${partition}`): StoredRow {
    if (!isIntact(row, partition)) throw corrupted(where, row.base);
    if (!isSealed(row)) return row;
    const range = { partition, base: row.base, next: row.next };
    const opened = openRow(row, range, this.#keys.read(slotOf(row.body)));
    if (opened === null) throw corrupted(where, row.base);
    return opened;
  }

  /** The columns of a row at its position, sealed under a new key if requested. */
  #stored(row: EncodedRow, range: OffsetRange, isToBeSealed: boolean) {
    const plain = {
      codec: row.codec,
      crc: crcAtPlace(row.crc, range.partition, range.base, range.next),
      directory: new Uint8Array(row.data, 0, row.directoryLength),
      body: new Uint8Array(row.data, row.directoryLength),
    };
    return isToBeSealed ? sealRow(plain, range, this.#keys.take()) : plain;
  }

  #replace(
    partition: number,
    row: Row,
    messages: readonly ReadMessage[],
    horizon: number | null,
  ): void {
    const { base, next } = row;
    const offsets = messages.map(({ offset }) => offset - base);
    const encoded = encodeRow(messages, 0, messages.length, 0, { offsets });
    const stored = this.#stored(encoded, { partition, base, next }, isSealed(row));
    const update = this.#db.prepare(`UPDATE batches SET count = ?, bytes = ?, codec = ?, crc = ?,
      newest = ?, horizon = ?, directory = ?, body = ? WHERE id = ?`);
    update.run(
      ...[encoded.count, encoded.bytes, stored.codec, stored.crc],
      ...[encoded.newest, horizon, stored.directory, stored.body, row.id],
    );
  }

  /** Records the row's messages, the newest so far, and those that they supersede. */
  #note(partition: number, row: Pick<Row, 'id' | 'base' | 'codec' | 'directory'>): void {
    const newest = this.#newest.get(partition) ?? new Map<string, NewestRow>();
    this.#newest.set(partition, newest);
    const view = new DirectoryView(row);
    for (let i = 0; i < view.count; i++) {
      const key = view.key(i);
      const former = newest.get(key);
      if (former !== undefined) this.#superseded.set(former.rowId, partition);
      newest.set(key, { rowId: row.id, offset: view.offset(i) });
    }
  }
}
