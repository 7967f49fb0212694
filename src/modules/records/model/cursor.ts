import { createHash } from 'node:crypto';
import { GatewayError } from '#kernel/errors.ts';
import type { Micros } from '#kernel/time.ts';

/** The contents of a cursor: the position of a record in its stream, and the time of that modification. */
export interface Cursor {
  /** Fingerprint of the stream's generation: positions of other generations do not apply. */
  readonly generation: bigint;
  readonly position: number;
  readonly modifiedAt: Micros;
}

/**
 * Layout: version (1 byte), check (1), generation (8), position (7), modified time in µs (7), big-endian.
 * 24 bytes are 32 characters of base64 without padding.
 */
const version = 1;
const bytesOfCursor = 24;
export const cursorChars = 32;
/** Node ignores characters that are not base64; the URL alphabet and a space in place of a plus are accepted. */
const form = /^[A-Za-z0-9+/ _-]+$/;

/** Fingerprint of a generation's name. */
export function generationOf(name: string): bigint {
  return createHash('sha256').update(name).digest().readBigUInt64BE(0);
}

const scratch = Buffer.alloc(bytesOfCursor);

export function encodeCursor(cursor: Cursor): string {
  scratch[0] = version;
  scratch.writeBigUInt64BE(cursor.generation, 2);
  writeUint56(scratch, cursor.position, 10);
  writeUint56(scratch, cursor.modifiedAt, 17);
  scratch[1] = checkOf(scratch);
  return scratch.toString('base64');
}

/** @throws GatewayError `invalid_cursor_value` */
export function decodeCursor(text: string): Cursor {
  if (text.length !== cursorChars || !form.test(text))
    throw new GatewayError('invalid_cursor_value');
  // A plus sign that a client did not encode arrives as a space.
  const bytes = Buffer.from(text.replaceAll(' ', '+'), 'base64');
  if (bytes[0] !== version || bytes[1] !== checkOf(bytes)) {
    throw new GatewayError('invalid_cursor_value');
  }
  const position = readUint56(bytes, 10);
  const modifiedAt = readUint56(bytes, 17);
  if (!Number.isSafeInteger(position) || !Number.isSafeInteger(modifiedAt)) {
    throw new GatewayError('invalid_cursor_value');
  }
  return { generation: bytes.readBigUInt64BE(2), position, modifiedAt };
}

/** Distinguishes a cursor from other base64 of the same length; no protection against forgery. */
function checkOf(bytes: Uint8Array): number {
  let check = 0x5a;
  for (let at = 2; at < bytesOfCursor; at++) {
    check = (Math.imul(check, 31) + (bytes[at] ?? 0)) & 0xff;
  }
  return check;
}

function writeUint56(bytes: Buffer, value: number, at: number): void {
  bytes[at] = Math.floor(value / 2 ** 48);
  bytes.writeUIntBE(value % 2 ** 48, at + 1, 6);
}

function readUint56(bytes: Buffer, at: number): number {
  return (bytes[at] ?? 0) * 2 ** 48 + bytes.readUIntBE(at + 1, 6);
}
