/** Text and bytes without the host: the isolate has no encoder of its own. */

/** Converts to text as the language does. */
export function toText(value: unknown): string {
  return String(value);
}

export function utf8Encode(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(utf8Length(text));
  let at = 0;
  for (let index = 0; index < text.length; index++) {
    let code = text.charCodeAt(index);
    if (code < 0x80) {
      out[at++] = code;
      continue;
    }
    if (code >= 0xd800 && code <= 0xdfff) {
      const whole = text.codePointAt(index) ?? 0xfffd;
      if (whole > 0xffff) index++;
      code = whole > 0xffff ? whole : 0xfffd;
    }
    if (code < 0x800) out[at++] = 0xc0 | (code >> 6);
    else {
      if (code < 0x10000) out[at++] = 0xe0 | (code >> 12);
      else {
        out[at++] = 0xf0 | (code >> 18);
        out[at++] = 0x80 | ((code >> 12) & 0x3f);
      }
      out[at++] = 0x80 | ((code >> 6) & 0x3f);
    }
    out[at++] = 0x80 | (code & 0x3f);
  }
  return out;
}

/** Bytes of the text in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code < 0x80) length += 1;
    else if (code < 0x800) length += 2;
    else if (code >= 0xd800 && code <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) {
      length += 4;
      index++;
    } else length += 3;
  }
  return length;
}

const isLowSurrogate = (code: number): boolean => code >= 0xdc00 && code <= 0xdfff;

/** Malformed bytes become U+FFFD, or throw when `isFatal`. One U+FFFD per maximal broken part. */
export function utf8Decode(bytes: Uint8Array, isFatal = false): string {
  let out = '';
  let units: number[] = [];
  for (let at = 0; at < bytes.length;) {
    const [code, next] = decodeOne(bytes, at);
    if (code < 0 && isFatal)
      throw new TypeError('The encoded data was not valid for encoding utf-8');
    at = next;
    if (code < 0) units.push(0xfffd);
    else if (code < 0x10000) units.push(code);
    else units.push(0xd800 + ((code - 0x10000) >> 10), 0xdc00 + ((code - 0x10000) & 0x3ff));
    if (units.length >= 8192) {
      out += String.fromCharCode(...units);
      units = [];
    }
  }
  return out + String.fromCharCode(...units);
}

/** The code point at `at` (-1 when malformed) and the start of the next one. */
function decodeOne(bytes: Uint8Array, at: number): [code: number, next: number] {
  const first = bytes[at] ?? 0;
  if (first < 0x80) return [first, at + 1];
  const length = first >= 0xc2 && first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (first < 0xc2 || length === 0) return [-1, at + 1];
  // The second byte's range excludes overlong forms, surrogates and code points above U+10FFFF.
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  let code = first & (0xff >> (length + 1));
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index] ?? -1;
    if (byte < (index === 1 ? low : 0x80) || byte > (index === 1 ? high : 0xbf)) {
      return [-1, at + index];
    }
    code = (code << 6) | (byte & 0x3f);
  }
  return [code, at + length];
}

/** One character per byte. */
export function latin1Decode(bytes: Uint8Array): string {
  let out = '';
  for (let at = 0; at < bytes.length; at += 8192) {
    out += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return out;
}

export function latin1Encode(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) out[at] = text.charCodeAt(at);
  return out;
}

export function utf16Decode(bytes: Uint8Array): string {
  let out = '';
  for (let at = 0; at + 1 < bytes.length; at += 2) {
    out += String.fromCharCode((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8));
  }
  return out;
}

export function utf16Encode(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length * 2);
  for (let at = 0; at < text.length; at++) {
    out[at * 2] = text.charCodeAt(at) & 0xff;
    out[at * 2 + 1] = text.charCodeAt(at) >> 8;
  }
  return out;
}

export function hexDecode(bytes: Uint8Array): string {
  let out = '';
  for (const byte of bytes) out += byte < 16 ? `0${byte.toString(16)}` : byte.toString(16);
  return out;
}

/** Stops at the first pair that is not hexadecimal. */
export function hexEncode(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(text.length >> 1);
  for (let at = 0; at < out.length; at++) {
    const pair = text.slice(at * 2, at * 2 + 2);
    if (!/^[0-9a-f]{2}$/i.test(pair)) return out.slice(0, at);
    out[at] = parseInt(pair, 16);
  }
  return out;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const values = new Int8Array(128).fill(-1);
for (let index = 0; index < 64; index++) values[alphabet.charCodeAt(index)] = index;
values['-'.charCodeAt(0)] = 62;
values['_'.charCodeAt(0)] = 63;

export function base64Text(bytes: Uint8Array): string {
  let out = '';
  const whole = bytes.length - (bytes.length % 3);
  for (let at = 0; at < whole; at += 3) {
    const word = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    out += letter(word >> 18) + letter(word >> 12) + letter(word >> 6) + letter(word);
  }
  if (whole === bytes.length) return out;
  const hasTwo = bytes.length - whole === 2;
  const word = ((bytes[whole] ?? 0) << 16) | ((bytes[whole + 1] ?? 0) << 8);
  return `${out}${letter(word >> 18)}${letter(word >> 12)}${hasTwo ? letter(word >> 6) : '='}=`;
}

const letter = (bits: number): string => alphabet.charAt(bits & 0x3f);

/** Accepts both alphabets; skips other characters, and ends at `=`. */
export function base64Bytes(text: string): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array((text.length * 3) >> 2);
  let length = 0;
  let word = 0;
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x3d) break;
    const value = code < 128 ? (values[code] ?? -1) : -1;
    if (value < 0) continue;
    word = ((word << 6) | value) & 0xffffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      out[length++] = (word >> bits) & 0xff;
    }
  }
  return out.slice(0, length);
}

export function btoa(text: unknown): string {
  const value = toText(text);
  if (/[^\x00-\xff]/.test(value)) throw invalidCharacter('btoa');
  return base64Text(latin1Encode(value));
}

export function atob(text: unknown): string {
  const value = toText(text).replace(/[\t\n\f\r ]/g, '');
  const bare = value.length % 4 === 0 ? value.replace(/={1,2}$/, '') : value;
  if (bare.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(bare)) throw invalidCharacter('atob');
  return latin1Decode(base64Bytes(bare));
}

function invalidCharacter(where: string): Error {
  const error = new Error(`${where}: the text contains an unsupported character`);
  error.name = 'InvalidCharacterError';
  return error;
}

/** UTF-8 only, as everywhere. */
export class TextEncoder {
  readonly encoding = 'utf-8';

  encode(text: unknown = ''): Uint8Array {
    return utf8Encode(toText(text));
  }

  encodeInto(text: string, target: Uint8Array): { read: number; written: number } {
    let read = 0;
    let written = 0;
    for (const character of text) {
      const bytes = utf8Encode(character);
      if (written + bytes.length > target.length) break;
      target.set(bytes, written);
      written += bytes.length;
      read += character.length;
    }
    return { read, written };
  }
}

const encodings: Readonly<Record<string, 'utf-8' | 'utf-16le' | 'windows-1252'>> = {
  'utf-8': 'utf-8',
  utf8: 'utf-8',
  'utf-16le': 'utf-16le',
  'utf-16': 'utf-16le',
  latin1: 'windows-1252',
  'iso-8859-1': 'windows-1252',
  ascii: 'windows-1252',
  'us-ascii': 'windows-1252',
};

/** Whole buffers only: a character that is split across chunks is not carried over. */
export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = toText(label).trim().toLowerCase();
    const encoding = Object.hasOwn(encodings, name) ? encodings[name] : undefined;
    if (encoding === undefined) throw new RangeError(`The encoding "${name}" is not supported`);
    this.encoding = encoding;
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  decode(input?: ArrayBuffer | ArrayBufferView): string {
    if (input === undefined) return '';
    const bytes = bytesOf(input);
    if (bytes === null) throw new TypeError('decode() takes an ArrayBuffer or a view of one');
    if (this.encoding === 'windows-1252') return latin1Decode(bytes);
    const text = this.encoding === 'utf-8' ? utf8Decode(bytes, this.fatal) : utf16Decode(bytes);
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}

/** The bytes that a buffer or a view of one holds; null for anything else. */
export function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
