import {
  base64Bytes,
  base64Text,
  bytesOf,
  hexDecode,
  hexEncode,
  latin1Decode,
  latin1Encode,
  toText,
  utf16Decode,
  utf16Encode,
  utf8Decode,
  utf8Encode,
} from './text.ts';

type Encoding = 'utf8' | 'hex' | 'base64' | 'base64url' | 'latin1' | 'ascii' | 'utf16le';

const names: Readonly<Record<string, Encoding>> = {
  utf8: 'utf8',
  'utf-8': 'utf8',
  hex: 'hex',
  base64: 'base64',
  base64url: 'base64url',
  latin1: 'latin1',
  binary: 'latin1',
  ascii: 'ascii',
  utf16le: 'utf16le',
  'utf-16le': 'utf16le',
  ucs2: 'utf16le',
  'ucs-2': 'utf16le',
};

function encodingOf(name: unknown): Encoding {
  const key = name === undefined || name === null ? 'utf8' : toText(name).toLowerCase();
  const encoding = Object.hasOwn(names, key) ? names[key] : undefined;
  if (encoding === undefined) throw new TypeError(`Unknown encoding: ${key}`);
  return encoding;
}

function encode(text: string, encoding: Encoding): Uint8Array<ArrayBuffer> {
  switch (encoding) {
    case 'utf8':
      return utf8Encode(text);
    case 'hex':
      return hexEncode(text);
    case 'base64':
    case 'base64url':
      return base64Bytes(text);
    case 'latin1':
    case 'ascii':
      return latin1Encode(text);
    case 'utf16le':
      return utf16Encode(text);
  }
}

function decode(bytes: Uint8Array, encoding: Encoding): string {
  switch (encoding) {
    case 'utf8':
      return utf8Decode(bytes);
    case 'hex':
      return hexDecode(bytes);
    case 'base64':
      return base64Text(bytes);
    case 'base64url':
      return base64Text(bytes)
        .replaceAll('+', '-')
        .replaceAll('/', '_')
        .replace(/={1,2}$/, '');
    case 'latin1':
      return latin1Decode(bytes);
    case 'ascii':
      return latin1Decode(bytes.map((byte) => byte & 0x7f));
    case 'utf16le':
      return utf16Decode(bytes);
  }
}

/**
 * The part of Node's `Buffer` that functions use, over memory of the isolate. As in Node, `slice` and `subarray`
 * share memory, and `from(buffer)` copies.
 */
export class Buffer extends Uint8Array<ArrayBuffer> {
  static override from(value: unknown, encodingOrOffset?: unknown, length?: unknown): Buffer {
    if (typeof value === 'string') return wrap(encode(value, encodingOf(encodingOrOffset)));
    if (value instanceof ArrayBuffer) {
      const offset = Number(encodingOrOffset ?? 0);
      return new Buffer(value, offset, length === undefined ? undefined : Number(length));
    }
    const bytes = bytesOf(value);
    if (bytes !== null) return wrap(new Uint8Array(bytes));
    if (typeof value === 'object' && value !== null) return fromObject(value, encodingOrOffset);
    throw new TypeError('Buffer.from takes text, bytes, a list of numbers or an object of them');
  }

  static alloc(size: number, fill?: string | number | Uint8Array, encoding?: string): Buffer {
    const buffer = new Buffer(new ArrayBuffer(sizeOf(size)));
    return fill === undefined || fill === 0 ? buffer : buffer.fill(fill, 0, size, encoding);
  }

  /** Zeroed too: memory never reveals former content. */
  static allocUnsafe(size: number): Buffer {
    return new Buffer(new ArrayBuffer(sizeOf(size)));
  }

  static concat(list: readonly Uint8Array[], total?: number): Buffer {
    const size = total ?? list.reduce((sum, item) => sum + item.length, 0);
    const out = new Buffer(new ArrayBuffer(sizeOf(size)));
    let at = 0;
    for (const item of list) {
      const part = item.length > size - at ? item.subarray(0, size - at) : item;
      out.set(part, at);
      at += part.length;
    }
    return out;
  }

  static isBuffer(value: unknown): value is Buffer {
    return value instanceof Buffer;
  }

  static isEncoding(name: unknown): boolean {
    return typeof name === 'string' && Object.hasOwn(names, name.toLowerCase());
  }

  static byteLength(value: string | ArrayBuffer | ArrayBufferView, encoding?: string): number {
    if (typeof value !== 'string') return value.byteLength;
    return encode(value, encodingOf(encoding)).length;
  }

  static compare(a: Uint8Array, b: Uint8Array): number {
    const length = Math.min(a.length, b.length);
    for (let at = 0; at < length; at++) {
      const difference = (a[at] ?? 0) - (b[at] ?? 0);
      if (difference !== 0) return difference < 0 ? -1 : 1;
    }
    return Math.sign(a.length - b.length);
  }

  override toString(encoding?: string, start = 0, end = this.length): string {
    return decode(this.subarray(start, end), encodingOf(encoding));
  }

  override toLocaleString(): string {
    return this.toString();
  }

  toJSON(): { type: 'Buffer'; data: number[] } {
    return { type: 'Buffer', data: Array.from(this) };
  }

  equals(other: Uint8Array): boolean {
    return this.length === other.length && Buffer.compare(this, other) === 0;
  }

  compare(other: Uint8Array): number {
    return Buffer.compare(this, other);
  }

  override subarray(start?: number, end?: number): Buffer {
    const part = super.subarray(start, end);
    return new Buffer(part.buffer, part.byteOffset, part.length);
  }

  override slice(start?: number, end?: number): Buffer {
    return this.subarray(start, end);
  }

  copy(target: Uint8Array, targetStart = 0, start = 0, end = this.length): number {
    const part = this.subarray(start, Math.min(end, start + target.length - targetStart));
    target.set(part, targetStart);
    return part.length;
  }

  write(
    text: string,
    offset?: number | string,
    length?: number | string,
    encoding?: string,
  ): number {
    const at = typeof offset === 'number' ? offset : 0;
    const room = typeof length === 'number' ? length : this.length - at;
    const name = [offset, length, encoding].find((item) => typeof item === 'string');
    const bytes = encode(text, encodingOf(name)).subarray(0, Math.min(room, this.length - at));
    this.set(bytes, at);
    return bytes.length;
  }

  override fill(
    value: string | number | Uint8Array,
    start = 0,
    end = this.length,
    encoding?: string,
  ): this {
    if (typeof value === 'number') return super.fill(value & 0xff, start, end);
    const pattern = typeof value === 'string' ? encode(value, encodingOf(encoding)) : value;
    if (pattern.length === 0) return super.fill(0, start, end);
    for (let at = start; at < end; at++) this[at] = pattern[(at - start) % pattern.length] ?? 0;
    return this;
  }

  override indexOf(value: string | number | Uint8Array, from = 0, encoding?: string): number {
    if (typeof value === 'number') return super.indexOf(value & 0xff, from);
    const wanted = typeof value === 'string' ? encode(value, encodingOf(encoding)) : value;
    for (let at = Math.max(0, from); at + wanted.length <= this.length; at++) {
      let same = 0;
      while (same < wanted.length && this[at + same] === wanted[same]) same++;
      if (same === wanted.length) return at;
    }
    return -1;
  }

  override includes(value: string | number | Uint8Array, from = 0, encoding?: string): boolean {
    return this.indexOf(value, from, encoding) !== -1;
  }
}

const sizeOf = (size: unknown): number => {
  if (typeof size !== 'number' || !(size >= 0)) throw new RangeError('The size is out of range');
  return size;
};

function wrap(bytes: Uint8Array<ArrayBuffer>): Buffer {
  return new Buffer(bytes.buffer, bytes.byteOffset, bytes.length);
}

function fromObject(value: object, encoding: unknown): Buffer {
  const shape = value as { type?: unknown; data?: unknown; length?: unknown };
  if (shape.type === 'Buffer' && Array.isArray(shape.data)) return Buffer.from(shape.data);
  if (typeof shape.length === 'number') return wrap(Uint8Array.from(value as ArrayLike<number>));
  const primitive: unknown = value.valueOf();
  if (primitive !== value) return Buffer.from(primitive, encoding);
  throw new TypeError('Buffer.from takes text, bytes, a list of numbers or an object of them');
}

type Reader =
  | 'Uint8'
  | 'Uint16'
  | 'Uint32'
  | 'Int8'
  | 'Int16'
  | 'Int32'
  | 'Float32'
  | 'Float64'
  | 'BigInt64'
  | 'BigUint64';

/** Node's names of the number types of a `DataView`, with their width in bytes. */
const numbers: readonly (readonly [names: readonly string[], reader: Reader, width: number])[] = [
  [['UInt8', 'Uint8'], 'Uint8', 1],
  [['UInt16', 'Uint16'], 'Uint16', 2],
  [['UInt32', 'Uint32'], 'Uint32', 4],
  [['Int8'], 'Int8', 1],
  [['Int16'], 'Int16', 2],
  [['Int32'], 'Int32', 4],
  [['Float'], 'Float32', 4],
  [['Double'], 'Float64', 8],
  [['BigInt64'], 'BigInt64', 8],
  [['BigUInt64', 'BigUint64'], 'BigUint64', 8],
];

for (const [aliases, reader, width] of numbers) {
  for (const name of aliases) {
    for (const ending of width === 1 ? [''] : ['LE', 'BE']) {
      define(`read${name}${ending}`, function read(this: Buffer, offset = 0) {
        return viewOf(this)[`get${reader}`](offset, ending === 'LE');
      });
      define(`write${name}${ending}`, function write(this: Buffer, value: never, offset = 0) {
        viewOf(this)[`set${reader}`](offset, value, ending === 'LE');
        return offset + width;
      });
    }
  }
}

function viewOf(buffer: Buffer): DataView {
  return new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
}

function define(name: string, value: unknown): void {
  Object.defineProperty(Buffer.prototype, name, { value, writable: true, configurable: true });
}
