import { callSync } from './bridge.ts';
import { Buffer } from './buffer.ts';
import { DOMException } from './dom-exception.ts';
import { bytesOf, toText, utf8Decode, utf8Encode } from './text.ts';

export function btoa(text: unknown): string {
  const value = toText(text);
  if (/[^\x00-\xff]/.test(value)) throw invalidCharacter();
  return Buffer.from(value, 'latin1').toString('base64');
}

export function atob(text: unknown): string {
  const value = toText(text).replace(/[\t\n\f\r ]/g, '');
  const bare = value.length % 4 === 0 ? value.replace(/={1,2}$/, '') : value;
  if (bare.length % 4 === 1 || !/^[A-Za-z0-9+/]*$/.test(bare)) throw invalidCharacter();
  return Buffer.from(bare, 'base64').toString('latin1');
}

const invalidCharacter = (): Error =>
  new DOMException('Invalid character', 'InvalidCharacterError');

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

const nothing = new Uint8Array(0);

/**
 * Every encoding of the Encoding standard. The host decodes all but whole texts in UTF-8: the tables of the others take
 * more memory than the rest of an isolate's script.
 */
export class TextDecoder {
  readonly encoding: string;
  readonly fatal: boolean;
  readonly ignoreBOM: boolean;
  /** Bytes of a stream that the next chunk completes. */
  #pending: Uint8Array = nothing;
  /** Characters of the pending bytes that were returned already. */
  #returned = 0;
  #isStarted = false;

  constructor(label: unknown = 'utf-8', options: { fatal?: boolean; ignoreBOM?: boolean } = {}) {
    const name = toText(label);
    this.encoding = name === 'utf-8' ? name : encodingOf(name);
    this.fatal = options.fatal === true;
    this.ignoreBOM = options.ignoreBOM === true;
  }

  /** @throws TypeError malformed bytes, if `fatal` */
  decode(
    input?: ArrayBuffer | ArrayBufferView,
    { stream = false }: { stream?: boolean } = {},
  ): string {
    const chunk = input === undefined ? nothing : bytesOf(input);
    if (chunk === null) throw new TypeError('decode() takes an ArrayBuffer or a view of one');
    const isWhole = !stream && !this.#isStarted && this.#pending.length === 0;
    if (isWhole && this.encoding === 'utf-8') {
      const text = utf8Decode(chunk, this.fatal);
      return !this.ignoreBOM && text.startsWith('\ufeff') ? text.slice(1) : text;
    }
    return this.#decodeByHost(chunk, stream);
  }

  #decodeByHost(chunk: Uint8Array, isStream: boolean): string {
    const bytes = Buffer.concat([this.#pending, chunk]);
    const flags = {
      fatal: this.fatal,
      ignoreBOM: this.ignoreBOM || this.#isStarted,
      stream: isStream,
    };
    const { text, pending } = JSON.parse(
      callSync('text.decode', [this.encoding, flags, bytes.toString('base64')]),
    ) as { text: string | null; pending: number | null };
    const returned = this.#returned;
    const kept = pending ?? bytes.length;
    this.#pending = isStream && text !== null ? bytes.subarray(bytes.length - kept) : nothing;
    this.#returned = isStream && pending === null ? (text?.length ?? 0) : 0;
    this.#isStarted = isStream && text !== null && (this.#isStarted || kept < bytes.length);
    if (text !== null) return text.slice(returned);
    throw Object.assign(
      new TypeError(`The encoded data was not valid for encoding ${this.encoding}`),
      {
        code: 'ERR_ENCODING_INVALID_ENCODED_DATA',
      },
    );
  }
}

/** @throws RangeError for a label that the standard does not have */
function encodingOf(label: string): string {
  const encoding = JSON.parse(callSync('text.encoding', [label])) as string | null;
  if (encoding !== null) return encoding;
  throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), {
    code: 'ERR_ENCODING_NOT_SUPPORTED',
  });
}
