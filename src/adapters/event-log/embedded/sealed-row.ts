import { crc32 } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';
import { createAesGcm } from '../../cipher/aes-gcm.ts';
import { bodySealed, crcAtPlace, type StoredRow } from './row-format.ts';

/** A sealed body: u32 slot of its key (row-keys.ts), then nonce, ciphertext and tag of AES-256-GCM. */
const slotBytes = 4;

export interface OffsetRange {
  readonly partition: number;
  readonly base: number;
  readonly next: number;
}

type Parts = Pick<StoredRow, 'codec' | 'directory' | 'body'>;

export const isSealed = ({ codec }: Pick<StoredRow, 'codec'>): boolean =>
  (codec & bodySealed) !== 0;

export const slotOf = (body: Uint8Array): number =>
  Buffer.from(body.buffer, body.byteOffset, slotBytes).readUInt32LE(0);

/** The row with its body sealed, and the checksum for its position. */
export function sealRow<Row extends Parts>(
  row: Row,
  range: OffsetRange,
  { slot, key }: { readonly slot: number; readonly key: Buffer },
): Row & Pick<StoredRow, 'crc'> {
  const head = Buffer.alloc(slotBytes);
  head.writeUInt32LE(slot, 0);
  const body = Buffer.concat([head, createAesGcm(key).seal(row.body, contextOf(range))]);
  const crc = crc32(body, crc32(row.directory));
  const { partition, base, next } = range;
  return {
    ...row,
    codec: row.codec | bodySealed,
    body,
    crc: crcAtPlace(crc, partition, base, next),
  };
}

/** The row with its body decrypted; null when the key is not, or no longer, the one that sealed it. */
export function openRow<Row extends Parts>(row: Row, range: OffsetRange, key: Buffer): Row | null {
  try {
    const body = createAesGcm(key).open(row.body.subarray(slotBytes), contextOf(range));
    return { ...row, codec: row.codec & ~bodySealed, body };
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
}

const contextOf = ({ partition, base }: OffsetRange): string => `row ${partition} ${base}`;
