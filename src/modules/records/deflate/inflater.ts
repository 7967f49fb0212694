import {
  distanceCodes,
  lengthBases,
  lengthExtras,
  literalCodes,
  matchMax,
  storedHeadBytes,
} from './codes.ts';

/** The bytes are not what `Deflater` writes. */
export class InflateError extends Error {
  override readonly name = 'InflateError';
}

const cut = 'It does not end where it should.';
const unknownCode = 'It has a code that stands for nothing.';
const endOfBlock = 256;
const distanceBits = 5;
const distanceMask = (1 << distanceBits) - 1;
const distanceCodesEnd = 30;
const valueBits = 9;
const valueMask = (1 << valueBits) - 1;
const countBits = 4;
const countMask = (1 << countBits) - 1;
/** By the next nine bits: what they begin with, and the length of its code; 0 for nothing. */
const valueOf = new Uint16Array(1 << valueBits);
/** By the next five bits: the code of a distance. */
const distanceOf = new Uint8Array(1 << distanceBits);
fillTables();
/** Zeros behind the bytes: the end of a block, so that nothing is read beyond them. */
const slackBytes = 16;

/** Reads what `Deflater` writes, one text after another. */
export class Inflater {
  /** The bytes, then zeros. */
  #in = new Uint8Array(1 << 14);
  /** The dictionary, then the text. */
  #window = new Uint8Array(1 << 14);
  #dictionary: Uint8Array = new Uint8Array();

  /**
   * The text, as a copy. `dictionary` must not be changed between two calls.
   * @throws InflateError for another block than a stored one or one of fixed codes, and where bytes are missing
   */
  inflate(bytes: Uint8Array, dictionary: Uint8Array): Buffer {
    const kind = (bytes[0] ?? 0) & 0b111;
    if (kind === 0b001) return stored(bytes);
    if (kind !== 0b011) throw new InflateError('It is not one block of fixed codes.');
    if (this.#in.length < bytes.length + slackBytes) this.#in = new Uint8Array(2 * bytes.length);
    this.#in.set(bytes);
    this.#in.fill(0, bytes.length, bytes.length + slackBytes);
    if (this.#dictionary !== dictionary) {
      if (this.#window.length < dictionary.length) this.#grow(dictionary.length, 0);
      this.#window.set(dictionary);
      this.#dictionary = dictionary;
    }
    const end = this.#read(bytes.length, dictionary.length);
    return Buffer.from(this.#window.subarray(dictionary.length, end));
  }

  /** Up to the end of the block. Returns the end of the text in the window. */
  #read(inputEnd: number, start: number): number {
    const input = this.#in;
    let window: Uint8Array = this.#window;
    let target = start;
    let at = 1;
    let bits = (input[0] ?? 0) >>> 3;
    let count = 5;
    for (;;) {
      // At least 24 bits: a value with its extra bits and the code of a distance take 19.
      for (; count < 24; count += 8) bits |= (input[at++] ?? 0) << count;
      const entry = valueOf[bits & valueMask] ?? 0;
      const value = entry >>> countBits;
      bits >>>= entry & countMask;
      count -= entry & countMask;
      if (target + matchMax > window.length) window = this.#grow(target + matchMax, target);
      if (value < endOfBlock) {
        if (entry === 0) throw new InflateError(unknownCode);
        window[target++] = value;
        continue;
      }
      if (value === endOfBlock) break;
      const lengthExtra = lengthExtras[value - endOfBlock - 1] ?? 0;
      const end =
        target + (lengthBases[value - endOfBlock - 1] ?? 0) + (bits & ((1 << lengthExtra) - 1));
      bits >>>= lengthExtra;
      const code = distanceOf[bits & distanceMask] ?? 0;
      if (code >= distanceCodesEnd) throw new InflateError(unknownCode);
      bits >>>= distanceBits;
      count -= lengthExtra + distanceBits;
      for (; count < 24; count += 8) bits |= (input[at++] ?? 0) << count;
      const extra = distanceCodes.extras[code] ?? 0;
      const distance = (distanceCodes.bases[code] ?? 0) + (bits & ((1 << extra) - 1));
      bits >>>= extra;
      count -= extra;
      if (distance > target) throw new InflateError('It looks back too far.');
      // Byte by byte: it may reach into what it makes.
      for (; target < end; target++) window[target] = window[target - distance] ?? 0;
    }
    if (at - (count >> 3) !== inputEnd) throw new InflateError(cut);
    return target;
  }

  #grow(bytes: number, used: number): Uint8Array {
    const grown = new Uint8Array(Math.max(2 * bytes, 2 * this.#window.length));
    grown.set(this.#window.subarray(0, used));
    this.#window = grown;
    return grown;
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
  distanceOf.fill(distanceCodesEnd);
  for (let code = 0; code < distanceCodesEnd; code++)
    distanceOf[distanceCodes.bits[code] ?? 0] = code;
}
