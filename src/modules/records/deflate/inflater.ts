import {
  distanceCodes,
  lengthBases,
  lengthExtras,
  literalCodes,
  storedHeadBytes,
} from './codes.ts';

/** The bytes are not what `Deflater` writes. */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}

const cut = 'It does not end where it should.';
const endOfBlock = 256;
const distanceBits = 5;
const valueBits = 9;
const valueMask = (1 << valueBits) - 1;
const countBits = 4;
const countMask = (1 << countBits) - 1;
/** By the next nine bits: what they begin with, and the length of its code. */
const valueOf = new Uint16Array(1 << valueBits);
/** By the next five bits: the code of a distance. */
const distanceOf = new Uint8Array(1 << distanceBits);
fillTables();

/** Reads what `Deflater` writes, one text after another. */
export class Inflater {
  #bytes: Uint8Array = new Uint8Array();
  #at = 0;
  #bits = 0;
  #bitCount = 0;
  #out = Buffer.alloc(1 << 14);
  #length = 0;

  /**
   * The text, as a copy.
   * @throws InflateError for another block than a stored one or one of fixed codes, and where bytes are missing
   */
  inflate(bytes: Uint8Array, dictionary: Uint8Array): Buffer {
    this.#bytes = bytes;
    this.#at = 0;
    this.#bits = 0;
    this.#bitCount = 0;
    this.#length = 0;
    const kind = this.#take(3);
    if (kind === 0b001) return stored(bytes);
    if (kind !== 0b011) throw new InflateError('It is not one block of fixed codes.');
    for (let value = this.#value(); value !== endOfBlock; value = this.#value()) {
      if (value < endOfBlock) this.#literal(value);
      else this.#match(value - endOfBlock - 1, dictionary);
    }
    if (this.#at - (this.#bitCount >> 3) !== bytes.length) throw new InflateError(cut);
    return Buffer.from(this.#out.subarray(0, this.#length));
  }

  #literal(value: number): void {
    if (this.#length === this.#out.length) this.#grow(this.#length + 1);
    this.#out[this.#length++] = value;
  }

  #match(lengthCode: number, dictionary: Uint8Array): void {
    const count = (lengthBases[lengthCode] ?? 0) + this.#take(lengthExtras[lengthCode] ?? 0);
    const code = distanceOf[this.#take(distanceBits)] ?? 0;
    const distance = (distanceCodes.bases[code] ?? 0) + this.#take(distanceCodes.extras[code] ?? 0);
    const start = this.#length;
    const end = start + count;
    if (distance > start + dictionary.length) throw new InflateError('It looks back too far.');
    if (end > this.#out.length) this.#grow(end);
    const out = this.#out;
    let at = start;
    let from = dictionary.length + start - distance;
    while (at < end && from < dictionary.length) out[at++] = dictionary[from++] ?? 0;
    for (from -= dictionary.length; at < end; from++) out[at++] = out[from] ?? 0;
    this.#length = end;
  }

  /** The next literal, end or length. */
  #value(): number {
    this.#fill();
    const entry = valueOf[this.#bits & valueMask] ?? 0;
    this.#bits >>>= entry & countMask;
    this.#bitCount -= entry & countMask;
    return entry >>> countBits;
  }

  #take(count: number): number {
    this.#fill();
    const value = this.#bits & ((1 << count) - 1);
    this.#bits >>>= count;
    this.#bitCount -= count;
    return value;
  }

  /** Has at least 17 bits at hand; past the end come zeros, which soon are an end of the block. */
  #fill(): void {
    while (this.#bitCount < 17) {
      this.#bits |= (this.#bytes[this.#at++] ?? 0) << this.#bitCount;
      this.#bitCount += 8;
    }
  }

  #grow(bytes: number): void {
    const grown = Buffer.alloc(Math.max(bytes, 2 * this.#out.length));
    this.#out.copy(grown);
    this.#out = grown;
  }
}

function stored(bytes: Uint8Array): Buffer {
  const length = (bytes[1] ?? 0) | ((bytes[2] ?? 0) << 8);
  if (bytes.length !== length + storedHeadBytes) throw new InflateError(cut);
  return Buffer.from(bytes.subarray(storedHeadBytes));
}

function fillTables(): void {
  const { bits, counts } = literalCodes;
  for (let value = 0; value < 286; value++) {
    const count = counts[value] ?? 0;
    for (let more = 0; more < 1 << (valueBits - count); more++) {
      valueOf[(bits[value] ?? 0) | (more << count)] = (value << countBits) | count;
    }
  }
  for (let code = 0; code < 30; code++) distanceOf[distanceCodes.bits[code] ?? 0] = code;
}
