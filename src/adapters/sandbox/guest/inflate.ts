/** Decompresses DEFLATE (RFC 1951), in the memory of the isolate. */

/** Huffman codes by length: the number of codes of each length, and the symbols in the order of their codes. */
interface Huffman {
  readonly counts: Uint16Array;
  readonly symbols: Uint16Array;
}

const codeBitsMax = 15;
const lengthBases = [
  3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
  163, 195, 227, 258,
];
const lengthExtra = [
  0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const distanceBases = [
  1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537, 2049,
  3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
/** The order in which a block lists the lengths of the codes that encode its codes. */
const lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const endOfBlock = 256;
/** Upper bound of the compression ratio: 258 bytes take at least two bits. */
const ratioMax = 1032;

const broken = (): Error => new Error('The archive is broken: its data cannot be unpacked.');

/**
 * The decompressed bytes.
 * @param size their number
 * @throws Error if the data is invalid, or of another size
 */
export function inflate(packed: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  if (size > packed.length * ratioMax) throw broken();
  const bits = new Bits(packed);
  const out = new Output(size);
  let isLast = false;
  while (!isLast) {
    isLast = bits.take(1) === 1;
    const kind = bits.take(2);
    if (kind === 0) out.copy(bits.bytes());
    else if (kind === 1) inflateBlock(bits, out, fixedCodes());
    else if (kind === 2) inflateBlock(bits, out, readCodes(bits));
    else throw broken();
  }
  return out.whole();
}

/** The compressed bytes, bit by bit. */
class Bits {
  readonly #packed: Uint8Array;
  #at = 0;
  #held = 0;
  #count = 0;

  constructor(packed: Uint8Array) {
    this.#packed = packed;
  }

  take(count: number): number {
    while (this.#count < count) {
      const next = this.#packed[this.#at++];
      if (next === undefined) throw broken();
      this.#held |= next << this.#count;
      this.#count += 8;
    }
    const value = this.#held & ((1 << count) - 1);
    this.#held >>>= count;
    this.#count -= count;
    return value;
  }

  /** The bytes of an uncompressed block. */
  bytes(): Uint8Array {
    this.#held = 0;
    this.#count = 0;
    const length = this.take(16);
    const complement = this.take(16);
    const from = this.#at;
    this.#at += length;
    if (length !== (~complement & 0xffff) || this.#at > this.#packed.length) throw broken();
    return this.#packed.subarray(from, this.#at);
  }

  symbol({ counts, symbols }: Huffman): number {
    let code = 0;
    let first = 0;
    let index = 0;
    for (let length = 1; length <= codeBitsMax; length++) {
      code |= this.take(1);
      const count = counts[length] ?? 0;
      if (code - count < first) return symbols[index + code - first] ?? 0;
      index += count;
      first = (first + count) << 1;
      code <<= 1;
    }
    throw broken();
  }
}

/** Exactly as many bytes as the archive declares. */
class Output {
  readonly #bytes: Uint8Array<ArrayBuffer>;
  #at = 0;

  constructor(size: number) {
    this.#bytes = new Uint8Array(new ArrayBuffer(size));
  }

  byte(value: number): void {
    if (this.#at === this.#bytes.length) throw broken();
    this.#bytes[this.#at++] = value;
  }

  copy(bytes: Uint8Array): void {
    if (this.#at + bytes.length > this.#bytes.length) throw broken();
    this.#bytes.set(bytes, this.#at);
    this.#at += bytes.length;
  }

  /** The source may overlap the destination. */
  repeat(distance: number, length: number): void {
    if (distance > this.#at) throw broken();
    for (let left = length; left > 0; left--) this.byte(this.#bytes[this.#at - distance] ?? 0);
  }

  whole(): Uint8Array<ArrayBuffer> {
    if (this.#at !== this.#bytes.length) throw broken();
    return this.#bytes;
  }
}

interface Codes {
  readonly literals: Huffman;
  readonly distances: Huffman;
}

function inflateBlock(bits: Bits, out: Output, { literals, distances }: Codes): void {
  for (;;) {
    const symbol = bits.symbol(literals);
    if (symbol === endOfBlock) return;
    if (symbol < endOfBlock) {
      out.byte(symbol);
      continue;
    }
    const at = symbol - endOfBlock - 1;
    const base = lengthBases[at];
    if (base === undefined) throw broken();
    const length = base + bits.take(lengthExtra[at] ?? 0);
    const far = bits.symbol(distances);
    const distance = distanceBases[far];
    if (distance === undefined) throw broken();
    out.repeat(distance + bits.take(far < 2 ? 0 : (far >> 1) - 1), length);
  }
}

let fixed: Codes | null = null;

function fixedCodes(): Codes {
  fixed ??= {
    literals: huffman([
      ...Array<number>(144).fill(8),
      ...Array<number>(112).fill(9),
      ...Array<number>(24).fill(7),
      ...Array<number>(8).fill(8),
    ]),
    distances: huffman(Array<number>(30).fill(5)),
  };
  return fixed;
}

/** The codes that a block defines. */
function readCodes(bits: Bits): Codes {
  const literals = bits.take(5) + 257;
  const distances = bits.take(5) + 1;
  const named = bits.take(4) + 4;
  const lengths = Array<number>(19).fill(0);
  for (const symbol of lengthOrder.slice(0, named)) lengths[symbol] = bits.take(3);
  const all = readLengths(bits, huffman(lengths), literals + distances);
  return {
    literals: huffman(all.slice(0, literals)),
    distances: huffman(all.slice(literals)),
  };
}

function readLengths(bits: Bits, codes: Huffman, total: number): number[] {
  const lengths: number[] = [];
  while (lengths.length < total) {
    const symbol = bits.symbol(codes);
    if (symbol < 16) {
      lengths.push(symbol);
      continue;
    }
    const last = lengths.at(-1);
    if (symbol === 16 && last === undefined) throw broken();
    const [value, count] =
      symbol === 16
        ? [last ?? 0, bits.take(2) + 3]
        : [0, symbol === 17 ? bits.take(3) + 3 : bits.take(7) + 11];
    for (let left = count; left > 0; left--) lengths.push(value);
  }
  if (lengths.length > total) throw broken();
  return lengths;
}

function huffman(lengths: readonly number[]): Huffman {
  const counts = new Uint16Array(codeBitsMax + 1);
  for (const length of lengths) counts[length] = (counts[length] ?? 0) + 1;
  counts[0] = 0;
  const offsets = new Uint16Array(codeBitsMax + 2);
  for (let length = 1; length <= codeBitsMax; length++) {
    offsets[length + 1] = (offsets[length] ?? 0) + (counts[length] ?? 0);
  }
  const symbols = new Uint16Array(lengths.length);
  for (const [symbol, length] of lengths.entries()) {
    if (length === 0) continue;
    const at = offsets[length] ?? 0;
    symbols[at] = symbol;
    offsets[length] = at + 1;
  }
  return { counts, symbols };
}
