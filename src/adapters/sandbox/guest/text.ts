import { utf8fromStringLoose, utf8toString, utf8toStringLoose } from '@exodus/bytes/utf8.js';

/** Text and bytes without the host: the isolate has no encoder of its own. */

/** Converts to text as the language does. */
export function toText(value: unknown): string {
  return String(value);
}

/** Lone surrogates become U+FFFD. */
export const utf8Encode = (text: string): Uint8Array<ArrayBuffer> => utf8fromStringLoose(text);

/** Malformed bytes become U+FFFD, one per maximal broken part. @throws TypeError for them if `isFatal` */
export const utf8Decode = (bytes: Uint8Array, isFatal = false): string =>
  isFatal ? utf8toString(bytes) : utf8toStringLoose(bytes);

/** Bytes of the text in UTF-8, without encoding it. */
export function utf8Length(text: string): number {
  let length = 0;
  for (let index = 0; index < text.length; index++) {
    const code = text.codePointAt(index) ?? 0;
    length += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (code >= 0x10000) index++;
  }
  return length;
}

/** The bytes that a buffer or a view of one holds; null for anything else. */
export function bytesOf(value: unknown): Uint8Array | null {
  if (value instanceof Uint8Array) return value;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  if (!ArrayBuffer.isView(value)) return null;
  return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
}
