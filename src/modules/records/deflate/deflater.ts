/**
 * Raw DEFLATE (RFC 1951) of short texts against a dictionary that both sides have (`zdict` of zlib): one block of
 * fixed codes, or a stored one where that is shorter. Any inflate with a preset dictionary reads it. The library of
 * the runtime takes some 20 µs for each text, nearly all of it to set up a stream and take it down again.
 */
import {
  distanceCodes,
  literalCodes,
  matchCodes,
  matchMax,
  matchMin,
  storedHeadBytes,
} from './codes.ts';

const hashBits = 12;
/** Places that are compared for each match. */
const chainMax = 8;
/** A shorter match waits for whether one from the next byte is longer. */
const lazyBelow = 8;
/** DEFLATE looks back no further. */
const distanceMax = 32_768;
export const dictionaryBytesMax = 16_384;
const storedMax = 0xffff;
/** A text is shorter than what is left of 31 bits. */
const epochMax = 2 ** 30;

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
  /** Places in the text at hand by hash, counted on from text to text: lower than `#epoch` is of an earlier one. */
  readonly #places = new Int32Array(1 << hashBits);
  #epoch = 1;
  #text: Uint8Array = new Uint8Array();
  #dictionary = new DeflateDictionary(new Uint8Array());
  #length = 0;
  #distance = 0;
  #out = Buffer.alloc(1 << 14);
  #outAt = 0;
  #bits = 0;
  #bitCount = 0;

  /** The bytes are a view that the next call overwrites. */
  deflate(text: Uint8Array, dictionary: DeflateDictionary): Buffer {
    const room = text.length * 2 + 64;
    if (this.#out.length < room) this.#out = Buffer.alloc(room);
    this.#text = text;
    this.#dictionary = dictionary;
    this.#outAt = 0;
    this.#bits = 0;
    this.#bitCount = 0;
    // The last block, of fixed codes.
    this.#put(0b011, 3);
    this.#body();
    // Its end, and zeros up to the next byte.
    this.#put(0, 7);
    if (this.#bitCount > 0) this.#put(0, 8 - this.#bitCount);
    this.#epoch += text.length;
    if (this.#epoch > epochMax) this.#forget();
    if (this.#outAt >= text.length + storedHeadBytes && text.length <= storedMax) this.#store();
    return this.#out.subarray(0, this.#outAt);
  }

  #body(): void {
    const text = this.#text;
    const last = text.length - matchMin;
    let at = 0;
    while (at < text.length) {
      if (at > last || !this.#find(at)) {
        this.#literal(at++);
        continue;
      }
      if (this.#length < lazyBelow && at < last) {
        const length = this.#length;
        const distance = this.#distance;
        if (this.#find(at + 1) && this.#length > length + 1) this.#literal(at++);
        else {
          this.#length = length;
          this.#distance = distance;
        }
      }
      this.#put(matchCodes.bits[this.#length] ?? 0, matchCodes.counts[this.#length] ?? 0);
      this.#putDistance(this.#distance);
      at += this.#length;
    }
  }

  /** The longest match of the text at the place, whose place is noted. */
  #find(at: number): boolean {
    const text = this.#text;
    const { bytes, heads, before } = this.#dictionary;
    const hash = hashAt(text, at);
    const lengthMax = Math.min(matchMax, text.length - at);
    const own = (this.#places[hash] ?? 0) - this.#epoch;
    this.#places[hash] = this.#epoch + at;
    let best = matchMin - 1;
    if (own >= 0 && own < at && at - own <= distanceMax) {
      const length = common(text, own, text, at, lengthMax);
      if (length > best) {
        best = length;
        this.#distance = at - own;
      }
    }
    const reach = at + bytes.length;
    let place = heads[hash] ?? 0;
    for (let tried = 0; place > 0 && tried < chainMax; tried++) {
      const from = place - 1;
      if (reach - from > distanceMax) break;
      if (best < lengthMax && bytes[from + best] === text[at + best]) {
        const length = common(bytes, from, text, at, Math.min(lengthMax, bytes.length - from));
        if (length > best) {
          best = length;
          this.#distance = reach - from;
        }
      }
      place = before[from] ?? 0;
    }
    this.#length = best;
    return best >= matchMin;
  }

  #forget(): void {
    this.#places.fill(0);
    this.#epoch = 1;
  }

  #literal(at: number): void {
    const byte = this.#text[at] ?? 0;
    this.#put(literalCodes.bits[byte] ?? 0, literalCodes.counts[byte] ?? 0);
  }

  #putDistance(distance: number): void {
    const code = distanceCodes.of(distance);
    this.#put(distanceCodes.bits[code] ?? 0, 5);
    const extra = distanceCodes.extras[code] ?? 0;
    if (extra > 0) this.#put(distance - (distanceCodes.bases[code] ?? 0), extra);
  }

  /** Up to 13 bits, the lowest first. */
  #put(bits: number, count: number): void {
    this.#bits |= bits << this.#bitCount;
    this.#bitCount += count;
    while (this.#bitCount >= 8) {
      this.#out[this.#outAt++] = this.#bits;
      this.#bits >>>= 8;
      this.#bitCount -= 8;
    }
  }

  /** As one stored block. */
  #store(): void {
    const { length } = this.#text;
    this.#out[0] = 1;
    this.#out.writeUInt16LE(length, 1);
    this.#out.writeUInt16LE(~length & 0xffff, 3);
    this.#out.set(this.#text, storedHeadBytes);
    this.#outAt = length + storedHeadBytes;
  }
}

function hashAt(bytes: Uint8Array, at: number): number {
  const three = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
  return Math.imul(three, 0x9e3779b1) >>> (32 - hashBits);
}

/** How many bytes are the same from the two places on. */
function common(a: Uint8Array, from: number, b: Uint8Array, at: number, max: number): number {
  let length = 0;
  while (length < max && a[from + length] === b[at + length]) length++;
  return length;
}
