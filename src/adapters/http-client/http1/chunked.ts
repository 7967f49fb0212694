import { notHttp } from './answer-head.ts';

/** Limit of the size line of a chunk with its extensions, and of all trailer fields. */
const lineBytesMax = 4 * 1024;
const trailerBytesMax = 64 * 1024;

/** With extensions as in RFC 9112 section 7.1.1, except for white space, which not every reader accepts. */
const sizeLine =
  /^([0-9a-fA-F]{1,12})(?:;[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:=(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+|"(?:[\t !#-[\]-~\x80-\xff]|\\[\t -~\x80-\xff])*"))?)*$/;
const trailerLine = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*$/;

/** A chunked body (RFC 9112 section 7.1). Extensions and trailer fields are read and dropped. */
export class ChunkedBody {
  readonly #deliver: (piece: Buffer) => void;
  #expects: 'size' | 'data' | 'end of data' | 'trailer' | 'nothing' = 'size';
  /** Bytes left in the current chunk. */
  #left = 0;
  /** An incomplete line. */
  #partial = '';
  #trailerBytes = 0;

  /** @param deliver receives the bytes of the body as they arrive */
  constructor(deliver: (piece: Buffer) => void) {
    this.#deliver = deliver;
  }

  get isComplete(): boolean {
    return this.#expects === 'nothing';
  }

  /**
   * Returns how many of the bytes belong to the body; fewer than all only once it is complete.
   * @throws HttpFailure `ERR_INVALID_ANSWER`
   */
  take(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#expects !== 'nothing') {
      at = this.#expects === 'data' ? this.#data(bytes, at) : this.#line(bytes, at);
    }
    return at;
  }

  #data(bytes: Buffer, from: number): number {
    const target = Math.min(bytes.length, from + this.#left);
    this.#left -= target - from;
    if (this.#left === 0) this.#expects = 'end of data';
    this.#deliver(bytes.subarray(from, target));
    return target;
  }

  #line(bytes: Buffer, from: number): number {
    const end = bytes.indexOf(0x0a, from);
    const target = end < 0 ? bytes.length : end + 1;
    if (this.#partial.length + target - from > lineBytesMax)
      throw notHttp('a line of a chunk above the limit');
    this.#partial += bytes.toString('latin1', from, target);
    if (end < 0) return target;
    const line = this.#partial;
    this.#partial = '';
    if (!line.endsWith('\r\n')) throw notHttp('a line ending in a chunk');
    this.#read(line.slice(0, -2));
    return target;
  }

  #read(line: string): void {
    if (this.#expects === 'end of data') {
      if (line !== '') throw notHttp('the end of a chunk');
      this.#expects = 'size';
    } else if (this.#expects === 'size') {
      const size = sizeLine.exec(line)?.[1];
      if (size === undefined) throw notHttp('the size of a chunk');
      this.#left = Number.parseInt(size, 16);
      this.#expects = this.#left === 0 ? 'trailer' : 'data';
    } else {
      this.#trailerBytes += line.length;
      if (line !== '' && (!trailerLine.test(line) || this.#trailerBytes > trailerBytesMax)) {
        throw notHttp('a field after the last chunk');
      }
      if (line === '') this.#expects = 'nothing';
    }
  }
}
