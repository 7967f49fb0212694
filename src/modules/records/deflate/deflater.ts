/**
 * Raw DEFLATE (RFC 1951) of short texts against a dictionary that both sides have (`zdict` of zlib): one block of
 * fixed codes, or a stored one where that is shorter. Any inflate with a preset dictionary reads it. The library of
 * the runtime takes some 20 µs for each text, nearly all of it to set up a stream and take it down again.
 */
import {
  distanceMax,
  matchMax,
  matchMin,
  packedCountBits,
  packedDistances,
  packedLengths,
  packedLiterals,
  storedHeadBytes,
} from './codes.ts';

const hashBits = 12;
/** Places that are compared for each match. */
const chainMax = 8;
/** A shorter match waits for whether one from the next byte is longer. */
const lazyBelow = 8;
export const dictionaryBytesMax = 16_384;
const storedMax = 0xffff;
/** A text is shorter than what is left of 31 bits. */
const epochMax = 2 ** 30;
const packedCountMask = (1 << packedCountBits) - 1;
/** A match is a number: its length above its distance. */
const distanceBits = 16;
const distanceMask = (1 << distanceBits) - 1;
/** Beyond the end of the codes: whole words are written, of which the next overwrites what is too much. */
const slackBytes = 8;

/** What both sides have, prepared for the many texts that are deflated against it. */
export class DeflateDictionary {
  readonly bytes: Buffer;
  /** By hash: one more than the last place. */
  readonly heads = new Uint16Array(1 << hashBits);
  /** By place: one more than the place before it that has the same hash. */
  readonly before: Uint16Array;

  constructor(bytes: Uint8Array) {
    if (bytes.length > dictionaryBytesMax) throw new RangeError('The dictionary is too long.');
    this.bytes = Buffer.from(bytes);
    this.before = new Uint16Array(bytes.length);
    for (let at = 0; at + matchMin <= bytes.length; at++) {
      const hash = hashAt(this.bytes, at);
      this.before[at] = this.heads[hash] ?? 0;
      this.heads[hash] = at + 1;
    }
  }
}

/** Writes one text after another with the same tables. */
export class Deflater {
  /** Places in the window by hash, counted on from text to text: lower than `#epoch` is of an earlier one. */
  readonly #places = new Int32Array(1 << hashBits);
  #epoch = 1;
  /** The dictionary, then the text. */
  #window = new Uint8Array(1 << 14);
  #dictionary = new DeflateDictionary(new Uint8Array());
  #end = 0;
  #out = Buffer.alloc(1 << 14);

  /** The bytes are a view that the next call overwrites. */
  deflate(text: Uint8Array, dictionary: DeflateDictionary): Buffer {
    const start = dictionary.bytes.length;
    this.#end = start + text.length;
    const room = text.length * 2 + slackBytes;
    if (this.#out.length < room) this.#out = Buffer.alloc(room);
    this.#load(text, dictionary);
    const length = this.#write(start);
    this.#epoch += this.#end;
    if (this.#epoch > epochMax) this.#forget();
    if (length < text.length + storedHeadBytes || text.length > storedMax)
      return this.#out.subarray(0, length);
    return this.#stored(text);
  }

  #load(text: Uint8Array, dictionary: DeflateDictionary): void {
    if (this.#window.length < this.#end) this.#window = new Uint8Array(2 * this.#end);
    else if (this.#dictionary === dictionary) {
      this.#window.set(text, dictionary.bytes.length);
      return;
    }
    this.#dictionary = dictionary;
    this.#window.set(dictionary.bytes);
    this.#window.set(text, dictionary.bytes.length);
  }

  /** The last block, of fixed codes. Returns its length. */
  #write(start: number): number {
    const window = this.#window;
    const out = this.#out;
    const end = this.#end;
    let outAt = 0;
    let bits = 0b011;
    let count = 3;
    let next = 0;
    for (let at = start; at < end;) {
      let match = next === 0 ? this.#find(at) : next;
      const isShort = next === 0 && match !== 0 && match < lazyBelow << distanceBits;
      next = isShort ? this.#longer(at + 1, match) : 0;
      if (next !== 0) match = 0;
      const length = match >>> distanceBits;
      const code = (length === 0 ? packedLiterals[window[at] ?? 0] : packedLengths[length]) ?? 0;
      bits |= (code >>> packedCountBits) << count;
      count += code & packedCountMask;
      // Fewer than 24 bits: whole bytes are done with, the rest is written once more with what follows.
      out[outAt] = bits;
      out[outAt + 1] = bits >>> 8;
      outAt += count >>> 3;
      bits >>>= count & ~7;
      count &= 7;
      at += length === 0 ? 1 : length;
      if (length === 0) continue;
      const distance = packedDistances[match & distanceMask] ?? 0;
      bits |= (distance >>> packedCountBits) << count;
      count += distance & packedCountMask;
      out[outAt] = bits;
      out[outAt + 1] = bits >>> 8;
      out[outAt + 2] = bits >>> 16;
      outAt += count >>> 3;
      bits >>>= count & ~7;
      count &= 7;
    }
    // The end of the block are seven zeros.
    out[outAt] = bits;
    out[outAt + 1] = 0;
    return outAt + ((count + 7 + 7) >>> 3);
  }

  /** A match at the place that pays for a literal before it; 0 for none. */
  #longer(at: number, match: number): number {
    const next = this.#find(at);
    return next >>> distanceBits > (match >>> distanceBits) + 1 ? next : 0;
  }

  /** The longest match of the text at the place; 0 for none. */
  #find(at: number): number {
    const window = this.#window;
    const { heads, before } = this.#dictionary;
    const lengthMax = Math.min(matchMax, this.#end - at);
    if (lengthMax < matchMin) return 0;
    const hash = hashAt(window, at);
    const own = (this.#places[hash] ?? 0) - this.#epoch;
    this.#places[hash] = this.#epoch + at;
    let best = matchMin - 1;
    let bestFrom = at;
    if (own >= 0 && own < at && at - own <= distanceMax) {
      const length = common(window, own, at, lengthMax);
      if (length > best) {
        best = length;
        bestFrom = own;
      }
    }
    let position = heads[hash] ?? 0;
    for (let tried = 0; position > 0 && tried < chainMax && best < lengthMax; tried++) {
      const from = position - 1;
      if (at - from > distanceMax) break;
      if (window[from + best] === window[at + best]) {
        const length = common(window, from, at, lengthMax);
        if (length > best) {
          best = length;
          bestFrom = from;
        }
      }
      position = before[from] ?? 0;
    }
    return best < matchMin ? 0 : (best << distanceBits) | (at - bestFrom);
  }

  #forget(): void {
    this.#places.fill(0);
    this.#epoch = 1;
  }

  /** As one stored block. */
  #stored(text: Uint8Array): Buffer {
    const out = this.#out;
    const { length } = text;
    out[0] = 1;
    out.writeUInt16LE(length, 1);
    out.writeUInt16LE(~length & 0xffff, 3);
    out.set(text, storedHeadBytes);
    return out.subarray(0, length + storedHeadBytes);
  }
}

function hashAt(bytes: Uint8Array, at: number): number {
  const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return Math.imul(three, 0x9e3779b1) >>> (32 - hashBits);
}

/** How many bytes are the same from the two places on. */
function common(window: Uint8Array, from: number, at: number, max: number): number {
  let length = 0;
  while (length < max && window[from + length] === window[at + length]) length++;
  return length;
}
