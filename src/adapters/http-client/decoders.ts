import { Transform, type TransformCallback } from 'node:stream';
import {
  crc32,
  createBrotliDecompress,
  createInflate,
  createInflateRaw,
  type BrotliDecompress,
  type Inflate,
  type InflateRaw,
} from 'node:zlib';
import { HttpFailure } from '#ports/http-client.ts';

type ZlibDecoder = BrotliDecompress | Inflate | InflateRaw;

/** Passes on the output of a zlib stream, with backpressure. */
abstract class Decoder extends Transform {
  protected inner: ZlibDecoder | null = null;

  protected open(inner: ZlibDecoder): ZlibDecoder {
    inner.on('data', (piece: Buffer) => {
      this.decoded(piece);
      if (!this.push(piece)) inner.pause();
    });
    inner.on('error', (cause) => this.destroy(wrongCoding(cause)));
    this.inner = inner;
    return inner;
  }

  protected decoded(_piece: Buffer): void {}

  override _read(bytes: number): void {
    this.inner?.resume();
    super._read(bytes);
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.inner?.destroy();
    done(error);
  }
}

/** One zlib stream. An empty body needs no decoding; bytes after the end of the stream are dropped. */
class SingleDecoder extends Decoder {
  readonly #create: (first: number) => ZlibDecoder;

  /** @param create receives the first byte of the body */
  constructor(create: (first: number) => ZlibDecoder) {
    super();
    this.#create = create;
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const [first] = chunk;
    if (first === undefined || this.inner?.readableEnded) done();
    else (this.inner ?? this.open(this.#create(first))).write(chunk, () => done());
  }

  override _flush(done: TransformCallback): void {
    if (this.inner === null || this.inner.readableEnded) done();
    else this.inner.once('end', () => done()).end();
  }
}

const headerBytesMin = 10;
const headerBytesMax = 64 * 1024;
const trailerBytes = 8;
/** Each member costs a decoder, however small it is; this many blocks of 64 KiB decode to 6 GB. */
const membersMax = 100_000;
const flag = { headerSum: 2, extra: 4, name: 8, comment: 16 } as const;

/**
 * The members of a gzip body (RFC 1952). Bytes after the last one are dropped, as gzip(1) and browsers do: `Gunzip`
 * of `node:zlib` treats them as a broken member, and loses pending output.
 */
class GzipDecoder extends Decoder {
  #expects: 'header' | 'data' | 'trailer' | 'nothing' = 'header';
  /** An incomplete header or trailer. */
  #partial: Buffer = Buffer.alloc(0);
  #members = 0;
  #sum = 0;
  #bytes = 0;

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#take(chunk, done);
  }

  override _flush(done: TransformCallback): void {
    const isBetween =
      this.#expects === 'header' && (this.#members > 0 || this.#partial.length === 0);
    const isWhole = isBetween || this.#expects === 'nothing';
    done(isWhole ? null : wrongCoding(new Error('unexpected end of the last member')));
  }

  protected override decoded(piece: Buffer): void {
    this.#sum = crc32(piece, this.#sum);
    this.#bytes += piece.length;
  }

  #take(bytes: Buffer, done: TransformCallback): void {
    if (bytes.length === 0 || this.#expects === 'nothing') {
      done();
      return;
    }
    if (this.#expects === 'data') {
      this.#inflate(bytes, done);
      return;
    }
    const all = this.#partial.length === 0 ? bytes : Buffer.concat([this.#partial, bytes]);
    this.#partial = Buffer.alloc(0);
    try {
      const used = this.#expects === 'header' ? this.#header(all) : this.#trailer(all);
      if (used === null) this.#partial = all;
      this.#take(used === null ? Buffer.alloc(0) : all.subarray(used), done);
    } catch (error) {
      done(error as Error);
    }
  }

  /** Returns the length of the header; null while it is incomplete. */
  #header(bytes: Buffer): number | null {
    const end = endOfHeader(bytes);
    if (end !== 'none' && end !== 'open') {
      this.#expects = 'data';
      this.#members += 1;
      if (this.#members > membersMax) throw wrongCoding(new Error('too many members'));
      this.#sum = 0;
      this.#bytes = 0;
      this.open(createInflateRaw());
      return end;
    }
    if (end === 'open' && bytes.length < headerBytesMax) return null;
    if (this.#members === 0) throw wrongCoding(new Error('incorrect header'));
    this.#expects = 'nothing';
    return bytes.length;
  }

  #trailer(bytes: Buffer): number | null {
    if (bytes.length < trailerBytes) return null;
    const isSame =
      bytes.readUInt32LE(0) === this.#sum && bytes.readUInt32LE(4) === this.#bytes % 2 ** 32;
    if (!isSame) throw wrongCoding(new Error('incorrect checksum'));
    this.#expects = 'header';
    return trailerBytes;
  }

  #inflate(bytes: Buffer, done: TransformCallback): void {
    const { inner } = this;
    if (inner === null) return;
    const before = inner.bytesWritten;
    inner.write(bytes, () => {
      const used = inner.bytesWritten - before;
      if (used === bytes.length) {
        done();
        return;
      }
      const next = (): void => {
        inner.destroy();
        this.#expects = 'trailer';
        this.#take(bytes.subarray(used), done);
      };
      if (inner.readableEnded) next();
      else inner.once('end', next);
    });
  }
}

/** Start of a member's data. `open`: its header is incomplete; `none`: invalid. */
function endOfHeader(bytes: Buffer): number | 'open' | 'none' {
  const isNone = [0x1f, 0x8b, 8].some((byte, at) => at < bytes.length && bytes[at] !== byte);
  if (isNone) return 'none';
  if (bytes.length < headerBytesMin) return 'open';
  const flags = bytes[3] ?? 0;
  let at = headerBytesMin;
  if ((flags & flag.extra) !== 0) {
    if (bytes.length < at + 2) return 'open';
    at += 2 + bytes.readUInt16LE(at);
  }
  for (const text of [flag.name, flag.comment]) {
    if ((flags & text) === 0) continue;
    const end = bytes.indexOf(0, at);
    if (end < 0) return 'open';
    at = end + 1;
  }
  if ((flags & flag.headerSum) !== 0) at += 2;
  return at > bytes.length ? 'open' : at;
}

const wrongCoding = (cause: Error): HttpFailure =>
  new HttpFailure('ERR_BODY_CODING', 'The response does not match its Content-Encoding.', {
    cause,
  });

/** `deflate` means zlib, but some servers send raw data: the first byte distinguishes them. */
const createDeflateDecoder = (): Transform =>
  new SingleDecoder((first) => ((first & 0x0f) === 8 ? createInflate() : createInflateRaw()));

const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: () => new GzipDecoder(),
  'x-gzip': () => new GzipDecoder(),
  br: () => new SingleDecoder(() => createBrotliDecompress()),
  deflate: createDeflateDecoder,
};

/** The supported codings. */
export const codings: ReadonlySet<string> = new Set(Object.keys(decoders));

/** @throws RangeError for a coding that is not in `codings` */
export function createDecoder(coding: string): Transform {
  const create = decoders[coding];
  if (create === undefined) throw new RangeError(`no decoder for ${coding}`);
  return create();
}
