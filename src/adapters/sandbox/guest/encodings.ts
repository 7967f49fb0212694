import { Buffer } from './buffer.ts';
import { bytesOf, toText, utf8Decode, utf8Encode } from './text.ts';

export function btoa(text: unknown): string {
  const value = toText(text);
  if (/[^\x00-\xff]/.test(value)) throw invalidCharacter('btoa');
  return Buffer.from(value, 'latin1').toString('base64');
}

export function atob(text: unknown): string {
  const value = toText(text).replace(/[\t\n\f\r ]/g, '');
  const bare = value.length % 4 === 0 ? value.replace(/={1,2}$/, '') : value;
  if (bare.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(bare)) throw invalidCharacter('atob');
  return Buffer.from(bare, 'base64').toString('latin1');
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
    if (this.encoding === 'windows-1252') return Buffer.from(bytes).toString('latin1');
    const isUtf8 = this.encoding === 'utf-8';
    const text = isUtf8 ? utf8Decode(bytes, this.fatal) : Buffer.from(bytes).toString('utf16le');
    return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
  }
}
