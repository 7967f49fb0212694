import {
  closeSync,
  existsSync,
  fdatasyncSync,
  openSync,
  readSync,
  statSync,
  writeSync,
} from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

/** Files up to this size are compared with their checksums when they are opened: half a second, once read. */
const comparedBytesMax = 1024 ** 3;
/** Bytes that are read at a time. */
const stretchBytes = 4 * 1024 ** 2;

/** Of the write-ahead file (sqlite.org/fileformat2.html, "The Write-Ahead Log"). */
const [walHeaderBytes, frameHeaderBytes, saltsAt] = [32, 24, 16];

/** Of the checksums: their own, the size of a page, and up to where the write-ahead file was noted. */
const headerBytes = 20;
const [pageBytesAt, noteAt, framesAt] = [4, 8, 16];
/** Of a checksum, and of the number of a page. */
const crcBytes = 4;

export const checksumsFile = (file: string): string => `${file}-crc`;
const walFile = (file: string): string => `${file}-wal`;

/**
 * A database that is derived from the log, with a checksum of each page in a file beside it. SQLite has none for its pages,
 * and would return a record whose bytes have changed on the disk. The checksums of pages are noted before a checkpoint
 * copies them from the write-ahead file, which has checksums; until it has, they are read there. So every page is what
 * was noted, or is in the write-ahead file, also after a kill.
 */
export class CheckedDatabase extends DatabaseSync {
  readonly #file: string;
  readonly #checkpointPages: number;
  readonly #frames: StatementSync | null;
  /** Held until SQLite has closed its own: to close it earlier would release the locks of this process on the file. */
  readonly #fd: number | null;
  /** Whether every page was what had been noted. */
  wasCompared = false;
  #pageBytes = 0;
  #checksums: Buffer = Buffer.alloc(0);

  /**
   * `setup` is SQL that runs before the file is compared.
   * @param checkpointPages pages of the write-ahead file after which `checkpointWhenDue` copies them
   * @throws Error when the file is damaged
   */
  constructor(file: string, setup: string, checkpointPages: number) {
    super(file);
    this.#file = file;
    this.#checkpointPages = checkpointPages;
    this.#fd = file === ':memory:' ? null : openSync(file, 'r');
    try {
      this.exec(`${setup}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`);
      this.#frames = this.#fd === null ? null : this.prepare('PRAGMA wal_checkpoint(NOOP)');
      if (this.#frames !== null) this.#compare(this.#frames);
    } catch (error) {
      this.#end();
      throw error;
    }
  }

  /** Call after a commit, outside of a transaction. */
  checkpointWhenDue(): void {
    if (this.#frames === null) return;
    const frames = framesIn(this.#frames);
    if (frames.all >= this.#checkpointPages) this.#checkpoint(frames);
  }

  override close(): void {
    try {
      if (this.isTransaction) this.exec('ROLLBACK');
      // SQLite copies what is left when the last connection is closed.
      if (this.#frames !== null) this.#checkpoint(framesIn(this.#frames));
    } finally {
      this.#end();
    }
  }

  #end(): void {
    super.close();
    if (this.#fd !== null) closeSync(this.#fd);
  }

  #checkpoint({ all, copied }: FrameCounts): void {
    if (all === copied) return;
    this.#note(copied, all);
    this.exec('PRAGMA wal_checkpoint(PASSIVE)');
  }

  /** @throws Error */
  #compare(frames: StatementSync): void {
    this.#pageBytes = Number(this.prepare('PRAGMA page_size').get()?.['page_size']);
    // Reads the write-ahead file.
    this.prepare('PRAGMA schema_version').get();
    const { size } = statSync(this.#file);
    // SQLite pads a truncated last page with zeros and reports no error.
    if (size % this.#pageBytes !== 0)
      throw new Error(`${this.#file} is damaged: its last page is cut off`);
    const { all } = framesIn(frames);
    this.#readChecksums();
    const isNew = this.#checksums.length === 0;
    if (isNew) this.#makeChecksums(size / this.#pageBytes);
    else this.#mustHaveNoted(all);
    if (isNew || size <= comparedBytesMax)
      this.#comparePages(size, this.#pagesInFrames(all), isNew);
    this.wasCompared = !isNew;
    if (isNew) this.#writeChecksums();
  }

  #readChecksums(): void {
    const path = checksumsFile(this.#file);
    // Earlier releases write none.
    if (!existsSync(path)) return;
    const bytes = readRange(path, 0, statSync(path).size);
    if (bytes.length < headerBytes || bytes.readUInt32LE(0) !== crcOfHeader(bytes))
      throw new Error(`${path} is damaged`);
    if (bytes.readUInt32LE(pageBytesAt) !== this.#pageBytes)
      throw new Error(`${path} is of pages of another size`);
    this.#checksums = bytes;
  }

  #makeChecksums(pages: number): void {
    this.#checksums = Buffer.alloc(headerBytes + pages * crcBytes);
    this.#checksums.writeUInt32LE(this.#pageBytes, pageBytesAt);
  }

  /** A write-ahead file that has lost its end would bring back earlier forms of some pages beside later ones of others. */
  #mustHaveNoted(all: number): void {
    const noted = this.#checksums.readUInt32LE(framesAt);
    const salts = saltsOf(this.#file);
    if (salts === null || all >= noted) return;
    if (salts.equals(this.#checksums.subarray(noteAt, framesAt)))
      throw new Error(`${walFile(this.#file)} is damaged: it lacks pages that were copied from it`);
  }

  #comparePages(size: number, elsewhere: ReadonlySet<number>, isNew: boolean): void {
    const pages = size / this.#pageBytes;
    const noted = (this.#checksums.length - headerBytes) / crcBytes;
    for (let page = pages + 1; page <= noted; page++) {
      if (!elsewhere.has(page))
        throw new Error(`${this.#file} is damaged: page ${page} is missing`);
    }
    const together = Math.max(1, Math.floor(stretchBytes / this.#pageBytes));
    for (let first = 1; first <= pages; first += together) {
      const count = Math.min(together, pages - first + 1);
      const bytes = this.#pages(first, count);
      for (let at = 0; at < count; at++) {
        const page = first + at;
        const found = crcOfPage(bytes, at * this.#pageBytes, this.#pageBytes);
        if (isNew) this.#checksums.writeUInt32LE(found, slotOf(page));
        else if (elsewhere.has(page)) continue;
        else if (page > noted || this.#checksums.readUInt32LE(slotOf(page)) !== found)
          throw new Error(`${this.#file} is damaged: page ${page} is not what was written`);
      }
    }
  }

  #pages(first: number, count: number): Buffer {
    const bytes = Buffer.allocUnsafe(count * this.#pageBytes);
    if (this.#fd !== null) readFully(this.#fd, bytes, (first - 1) * this.#pageBytes);
    return bytes;
  }

  #pagesInFrames(all: number): ReadonlySet<number> {
    if (all === 0) return new Set();
    const fd = openSync(walFile(this.#file), 'r');
    try {
      return new Set(this.#lastFrames(fd, 0, all).keys());
    } finally {
      closeSync(fd);
    }
  }

  /** By page, the last frame that has it: most pages are written several times between two checkpoints. */
  #lastFrames(fd: number, first: number, all: number): ReadonlyMap<number, number> {
    const frames = new Map<number, number>();
    const head = Buffer.allocUnsafe(crcBytes);
    for (let frame = first; frame < all; frame++) {
      readFully(fd, head, this.#frameAt(frame));
      frames.set(head.readUInt32BE(0), frame);
    }
    return frames;
  }

  #frameAt(frame: number): number {
    return walHeaderBytes + frame * (frameHeaderBytes + this.#pageBytes);
  }

  /** Notes the pages of the frames after the first ones, durably. */
  #note(first: number, all: number): void {
    const fd = openSync(walFile(this.#file), 'r');
    try {
      const bytes = Buffer.allocUnsafe(this.#pageBytes);
      for (const [page, frame] of this.#lastFrames(fd, first, all)) {
        readFully(fd, bytes, this.#frameAt(frame) + frameHeaderBytes);
        this.#grow(page);
        this.#checksums.writeUInt32LE(crc32(bytes), slotOf(page));
      }
    } finally {
      closeSync(fd);
    }
    saltsOf(this.#file)?.copy(this.#checksums, noteAt);
    this.#checksums.writeUInt32LE(all, framesAt);
    this.#writeChecksums();
  }

  #grow(page: number): void {
    const length = slotOf(page) + crcBytes;
    if (this.#checksums.length >= length) return;
    const grown = Buffer.alloc(length);
    this.#checksums.copy(grown);
    this.#checksums = grown;
  }

  #writeChecksums(): void {
    this.#checksums.writeUInt32LE(crcOfHeader(this.#checksums), 0);
    const path = checksumsFile(this.#file);
    const fd = openSync(path, existsSync(path) ? 'r+' : 'w', 0o600);
    try {
      writeSync(fd, this.#checksums, 0, this.#checksums.length, 0);
      fdatasyncSync(fd);
    } finally {
      closeSync(fd);
    }
  }
}

const slotOf = (page: number): number => headerBytes + (page - 1) * crcBytes;

const crcOfPage = (bytes: Buffer, start: number, length: number): number =>
  crc32(bytes.subarray(start, start + length));

const crcOfHeader = (checksums: Buffer): number =>
  crc32(checksums.subarray(pageBytesAt, headerBytes));

/** All frames of the write-ahead file, and those that were copied into the database. */
interface FrameCounts {
  readonly all: number;
  readonly copied: number;
}

function framesIn(statement: StatementSync): FrameCounts {
  const row = statement.get();
  return {
    all: Math.max(0, Number(row?.['log'] ?? 0)),
    copied: Math.max(0, Number(row?.['checkpointed'] ?? 0)),
  };
}

/** They change each time that the write-ahead file is begun again. Null: it has no header. */
function saltsOf(file: string): Buffer | null {
  const wal = walFile(file);
  if (!existsSync(wal) || statSync(wal).size < walHeaderBytes) return null;
  return readRange(wal, saltsAt, framesAt - noteAt);
}

function readRange(path: string, position: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(length);
  const fd = openSync(path, 'r');
  try {
    readFully(fd, bytes, position);
  } finally {
    closeSync(fd);
  }
  return bytes;
}

function readFully(fd: number, bytes: Buffer, position: number): void {
  for (let read = 0; read < bytes.length;) {
    const more = readSync(fd, bytes, read, bytes.length - read, position + read);
    if (more === 0) throw new Error('A file of a database ends early.');
    read += more;
  }
}
