import type { FileHandle } from 'node:fs/promises';
import { crc32, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';
import type { Headers } from '#ports/event-log.ts';

/**
 * A file: the magic, then blocks. A block: length and CRC-32 of what follows (4 bytes each, big-endian), then
 * zstd. Inside: entries, each with its length and CRC-32.
 */
export const magic = Buffer.from('svc-log-1\n');
const prefixBytes = 8;

/** A message of the log in the format of the file. */
export interface Entry {
  readonly offset: number;
  readonly timestamp: number;
  readonly key: string;
  readonly headers: Headers;
  readonly value: Uint8Array | null;
}

/** One block of these entries. */
export function encodeBlock(entries: readonly Entry[]): Buffer {
  const plain = Buffer.concat(entries.map((entry) => framed(encodeEntry(entry))));
  return framed(zstdCompressSync(plain));
}

/** The blocks from one position of the file to another. @throws GatewayError `log_corrupt` naming the file */
export async function* blocksAt(
  handle: FileHandle,
  { start, end }: { readonly start: number; readonly end: number },
  file: string,
): AsyncGenerator<Entry[]> {
  for (let at = start; at < end;) {
    const prefix = await bytesAt(handle, at, prefixBytes);
    if (prefix.length < prefixBytes) throw corrupted(file);
    const length = prefixBytes + prefix.readUInt32BE(0);
    const framed = await bytesAt(handle, at, Math.min(length, end - at));
    yield decodeBlock(unframed(framed, 0, file), file);
    at += length;
  }
}

export async function bytesAt(
  handle: FileHandle,
  position: number,
  length: number,
): Promise<Buffer> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
}

/** @throws GatewayError `log_corrupt` naming the file */
function decodeBlock(packed: Buffer, file: string): Entry[] {
  let plain: Buffer;
  try {
    plain = zstdDecompressSync(packed);
  } catch (error) {
    throw corrupted(file, { cause: error });
  }
  const entries: Entry[] = [];
  for (let at = 0; at < plain.length;) {
    const body: Buffer = unframed(plain, at, file);
    entries.push(decodeEntry(body));
    at += prefixBytes + body.length;
  }
  return entries;
}

function framed(body: Buffer): Buffer {
  const prefix = Buffer.alloc(prefixBytes);
  prefix.writeUInt32BE(body.length, 0);
  prefix.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([prefix, body]);
}

/** The body of the frame at `at`, checked. @throws GatewayError `log_corrupt` */
function unframed(bytes: Buffer, at: number, file: string): Buffer {
  if (at + prefixBytes > bytes.length) throw corrupted(file);
  const end = at + prefixBytes + bytes.readUInt32BE(at);
  if (end > bytes.length) throw corrupted(file);
  const body = bytes.subarray(at + prefixBytes, end);
  if (crc32(body) !== bytes.readUInt32BE(at + 4)) throw corrupted(file);
  return body;
}

export const corrupted = (file: string, options?: ErrorOptions): GatewayError => {
  const message = `The file ${file} is corrupt or truncated: export or copy it again.`;
  return new GatewayError('log_corrupt', { message }, options);
};

function encodeEntry({ offset, timestamp, key, headers, value }: Entry): Buffer {
  const head = Buffer.from(JSON.stringify({ offset, timestamp, key, headers }));
  const lengths = Buffer.alloc(5);
  lengths.writeUInt32BE(head.length, 0);
  lengths[4] = value === null ? 0 : 1;
  return Buffer.concat([lengths, head, value ?? Buffer.alloc(0)]);
}

function decodeEntry(body: Buffer): Entry {
  const headEnd = 5 + body.readUInt32BE(0);
  const head = JSON.parse(body.toString('utf8', 5, headEnd)) as Omit<Entry, 'value'>;
  return { ...head, value: body[4] === 0 ? null : Buffer.from(body.subarray(headEnd)) };
}
