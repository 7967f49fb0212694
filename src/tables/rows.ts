import type { Micros } from '#kernel/time.ts';

const tab = 0x09;
const newline = 0x0a;
const carriageReturn = 0x0d;
const backslash = 0x5c;
const zero = 0x30;

/**
 * Writes rows of an insert as tab-separated text into one growing buffer that `clear` reuses. (Not as binary rows:
 * the in-process connection passes statements as text.)
 */
export class TabWriter {
  #buffer: Buffer;
  #length = 0;
  #rows = 0;
  #undoLength = 0;
  /** The prefix of the last bytes, and its escaped form. */
  #head: Buffer = Buffer.alloc(0);
  #escapedHead: Buffer = Buffer.alloc(0);
  #undoRows = 0;

  constructor(initialBytes = 1 << 20) {
    this.#buffer = Buffer.allocUnsafe(initialBytes);
  }

  get rows(): number {
    return this.#rows;
  }

  get bytes(): number {
    return this.#length;
  }

  /** The text so far; valid until the next write. */
  text(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  clear(): void {
    this.#length = 0;
    this.#rows = 0;
  }

  /** Marks the position that `undo` returns to. */
  begin(): void {
    this.#undoLength = this.#length;
    this.#undoRows = this.#rows;
  }

  /** Discards what was written since `begin`. */
  undo(): void {
    this.#length = this.#undoLength;
    this.#rows = this.#undoRows;
  }

  endRow(): void {
    // The separator after the last value becomes the end of the row.
    this.#buffer[this.#length - 1] = newline;
    this.#rows++;
  }

  /** A whole number from 0 to 2^53 - 1. */
  uint(value: number): void {
    if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a uint: ${value}`);
    this.#reserve(21);
    this.#digits(value, 1);
    this.#buffer[this.#length++] = tab;
  }

  /** A time with microseconds; null if the column is nullable. */
  time(at: Micros | null): void {
    if (at === null) {
      this.ascii('\\N');
      return;
    }
    if (!Number.isSafeInteger(at) || at < 0) throw new RangeError(`not a time: ${at}`);
    this.#reserve(24);
    const seconds = Math.floor(at / 1_000_000);
    // At least ten digits: fewer would be parsed as a calendar date.
    this.#digits(seconds, 10);
    this.#buffer[this.#length++] = 0x2e;
    this.#digits(at - seconds * 1_000_000, 6);
    this.#buffer[this.#length++] = tab;
  }

  /** Text without tab, newline or backslash. */
  ascii(text: string): void {
    this.#reserve(text.length + 1);
    this.#length += this.#buffer.write(text, this.#length, 'latin1');
    this.#buffer[this.#length++] = tab;
  }

  string(text: string): void {
    this.#reserve(6 * text.length + 1);
    const start = this.#length;
    const end = start + this.#buffer.write(text, start);
    if (this.#isPlain(start, end)) this.#length = end;
    else this.#escaped(Buffer.from(this.#buffer.subarray(start, end)));
    this.#buffer[this.#length++] = tab;
  }

  /** UTF-8 text; separators of rows and values are escaped. */
  utf8(text: Uint8Array): void {
    this.#reserve(2 * text.length + 1);
    const start = this.#length;
    this.#buffer.set(text, start);
    if (this.#isPlain(start, start + text.length)) this.#length += text.length;
    else this.#escaped(text);
    this.#buffer[this.#length++] = tab;
  }

  /**
   * Any bytes, escaped likewise; the first `repeated` usually equal those of the previous value, which are already
   * escaped.
   */
  binary(bytes: Uint8Array, repeated: number): void {
    this.#reserve(2 * bytes.length + 1);
    const head = bytes.subarray(0, repeated);
    if (this.#head.equals(head)) {
      this.#buffer.set(this.#escapedHead, this.#length);
      this.#length += this.#escapedHead.length;
    } else {
      const start = this.#length;
      this.#escaped(head);
      this.#head = Buffer.from(head);
      this.#escapedHead = Buffer.from(this.#buffer.subarray(start, this.#length));
    }
    this.#escaped(bytes.subarray(repeated));
    this.#buffer[this.#length++] = tab;
  }

  /** One pass over the bytes: searching for each of five would take five calls into the runtime. */
  #isPlain(start: number, end: number): boolean {
    const buffer = this.#buffer;
    for (let at = start; at < end; at++) if (isSpecial[buffer[at] ?? 0] === 1) return false;
    return true;
  }

  #escaped(text: Uint8Array): void {
    const buffer = this.#buffer;
    let at = this.#length;
    for (let from = 0; from < text.length; from++) {
      const byte = text[from] ?? 0;
      if (isSpecial[byte] !== 1) buffer[at++] = byte;
      else {
        buffer[at++] = backslash;
        buffer[at++] = escapeOf[byte] ?? 0;
      }
    }
    this.#length = at;
  }

  #digits(value: number, digitsMin: number): void {
    let digits = digitsMin;
    for (let limit = 10 ** digitsMin; value >= limit; limit *= 10) digits++;
    let rest = value;
    for (let at = this.#length + digits - 1; at >= this.#length; at--) {
      const tenth = Math.floor(rest / 10);
      this.#buffer[at] = zero + (rest - tenth * 10);
      rest = tenth;
    }
    this.#length += digits;
  }

  #reserve(bytes: number): void {
    const needed = this.#length + bytes;
    if (needed <= this.#buffer.length) return;
    const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#buffer.length));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

/** 1 at each byte that is escaped. */
const isSpecial = new Uint8Array(256);
/** By byte: the character after the backslash. */
const escapeOf = new Uint8Array(256);
for (const [byte, escape] of [
  [tab, 0x74],
  [newline, 0x6e],
  [carriageReturn, 0x72],
  [backslash, backslash],
  [0, zero],
] as const) {
  isSpecial[byte] = 1;
  escapeOf[byte] = escape;
}

/** Writes a binary row as `RowReader` reads it. */
export class RowWriter {
  readonly #parts: Uint8Array[] = [];

  int64(value: number): void {
    const bytes = Buffer.allocUnsafe(8);
    bytes.writeBigInt64LE(BigInt(value));
    this.#parts.push(bytes);
  }

  nullableInt64(value: number | null): void {
    this.#parts.push(Uint8Array.of(value === null ? 1 : 0));
    if (value !== null) this.int64(value);
  }

  string(text: string): void {
    this.bytes(Buffer.from(text));
  }

  bytes(bytes: Uint8Array): void {
    const length: number[] = [];
    let rest = bytes.length;
    for (; rest >= 128; rest = Math.floor(rest / 128)) length.push((rest % 128) + 128);
    this.#parts.push(Uint8Array.of(...length, rest), bytes);
  }

  end(): Buffer {
    return Buffer.concat(this.#parts);
  }
}

/** Reads binary rows value by value, in the order of the selected columns. Allocates only for strings. */
export class RowReader {
  readonly #buffer: Buffer;
  readonly #view: DataView;
  #at = 0;
  /** Start of the value that `range` read last. */
  start = 0;
  end = 0;

  constructor(buffer: Buffer) {
    this.#buffer = buffer;
    this.#view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  }

  get hasMore(): boolean {
    return this.#at < this.#buffer.length;
  }

  uint8(): number {
    return this.#view.getUint8(this.#at++);
  }

  /** A 64-bit whole number; exact below 2^53. */
  int64(): number {
    const low = this.#view.getUint32(this.#at, true);
    const high = this.#view.getInt32(this.#at + 4, true);
    this.#at += 8;
    return high * 0x1_0000_0000 + low;
  }

  nullableInt64(): number | null {
    return this.uint8() === 1 ? null : this.int64();
  }

  string(): string {
    this.range();
    return this.#buffer.toString('utf8', this.start, this.end);
  }

  /** Text of bytes below 128. */
  ascii(): string {
    this.range();
    return this.#buffer.toString('latin1', this.start, this.end);
  }

  /** As `ascii`; returns `previous` itself if the text is the same, which is common in consecutive rows. */
  asciiLike(previous: string): string {
    this.range();
    const { start } = this;
    let isSame = this.end - start === previous.length;
    for (let at = 0; isSame && at < previous.length; at++) {
      isSame = this.#buffer[start + at] === previous.charCodeAt(at);
    }
    return isSame ? previous : this.#buffer.toString('latin1', start, this.end);
  }

  /** Skips a string and leaves its position in `start` and `end`. */
  range(): void {
    let length = 0;
    let unit = 1;
    for (;;) {
      const byte = this.#view.getUint8(this.#at++);
      length += (byte & 0x7f) * unit;
      if (byte < 0x80) break;
      unit *= 128;
    }
    this.start = this.#at;
    this.end = this.#at + length;
    this.#at = this.end;
  }
}
