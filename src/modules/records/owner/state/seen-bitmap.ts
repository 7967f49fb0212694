import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const chunkBits = 65_536;
const chunkBytes = chunkBits / 8;
/** A saved chunk: its number, then its bits. */
const savedBytes = 4 + chunkBytes;

/** A set of positions as bitmaps: those that a pass of delete tracking has seen unchanged. */
export class SeenBitmap {
  readonly #chunks = new Map<number, Uint8Array>();

  static decode(saved: Uint8Array): SeenBitmap {
    const seen = new SeenBitmap();
    if (saved.length === 0) return seen;
    const bytes = zstdDecompressSync(saved);
    for (let at = 0; at < bytes.length; at += savedBytes) {
      const chunk = Uint8Array.prototype.slice.call(bytes, at + 4, at + savedBytes);
      seen.#chunks.set(bytes.readUInt32LE(at), chunk);
    }
    return seen;
  }

  encode(): Buffer {
    if (this.#chunks.size === 0) return Buffer.alloc(0);
    const bytes = Buffer.allocUnsafe(this.#chunks.size * savedBytes);
    let at = 0;
    for (const [number, chunk] of this.#chunks) {
      bytes.writeUInt32LE(number, at);
      bytes.set(chunk, at + 4);
      at += savedBytes;
    }
    return zstdCompressSync(bytes);
  }

  add(position: number): void {
    const number = Math.floor(position / chunkBits);
    let chunk = this.#chunks.get(number);
    if (chunk === undefined) {
      chunk = new Uint8Array(chunkBytes);
      this.#chunks.set(number, chunk);
    }
    const bit = position % chunkBits;
    chunk[bit >> 3] = (chunk[bit >> 3] ?? 0) | (1 << (bit & 7));
  }

  has(position: number): boolean {
    const chunk = this.#chunks.get(Math.floor(position / chunkBits));
    if (chunk === undefined) return false;
    const bit = position % chunkBits;
    return ((chunk[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** The first run of positions without a mark from `from` to `through`; null when all have one. */
  gap(from: number, through: number): { readonly first: number; readonly last: number } | null {
    const first = this.#next(from, through, false);
    if (first > through) return null;
    return { first, last: this.#next(first, through, true) - 1 };
  }

  /** The first position from `from` on that has a mark (or has none); `through` + 1 when there is none. */
  #next(from: number, through: number, isMarked: boolean): number {
    const skipped = isMarked ? 0 : 0xff;
    let position = from;
    while (position <= through) {
      const chunk = this.#chunks.get(Math.floor(position / chunkBits));
      const bit = position % chunkBits;
      if (chunk === undefined) {
        if (!isMarked) return position;
        position += chunkBits - bit;
      } else if ((bit & 7) === 0 && chunk[bit >> 3] === skipped) position += 8;
      else if ((((chunk[bit >> 3] ?? 0) & (1 << (bit & 7))) !== 0) === isMarked) return position;
      else position += 1;
    }
    return through + 1;
  }
}
