import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { PayloadEncoding } from '../../../../../src/modules/records/events.ts';
import {
  Block,
  decodePlaces,
  encodeBlock,
  encodePlaces,
  type PlacedPayload,
} from '../../../../../streams/owners/records/payload-block.ts';

const entry = (
  position: number,
  text: string | null,
  encoding: PayloadEncoding = text === null ? 'none' : 'json',
): PlacedPayload => ({
  position,
  id: `record-${position}`,
  payload: { bytes: text === null ? null : Buffer.from(text), encoding },
});

function readBack(entries: readonly PlacedPayload[]) {
  const block = new Block(encodeBlock(entries), entries.length);
  return entries.map(({ position }, index) => ({
    position,
    id: block.id(index),
    payload: block.payload(index),
  }));
}

describe('a block of payloads', () => {
  it('gives back what was put into it, of whatever kind', () => {
    const entries = [
      entry(1, '{"a":1}'),
      entry(2, null),
      entry(3, ''),
      entry(4, 'sealed', 'json+aes256gcm'),
      entry(5, 'deflated', 'json+deflate+aes256gcm'),
      { ...entry(6, 'x'.repeat(100_000)), id: 'ключ-鍵-🔑' },
      { ...entry(7, '{}'), id: '' },
    ];
    expect(readBack(entries)).toEqual(entries);
    expect(readBack(entries.slice(0, 2))).toEqual(entries.slice(0, 2));
  });

  it('is shorter than the payloads together, unless they are like noise', () => {
    const plain = Array.from({ length: 32 }, (_, i) => entry(i, `{"name":"name ${i}","b":true}`));
    const { data, size } = encodeBlock(plain);
    expect(data.length).toBeLessThan(size / 3);
    const noise = plain.map(({ position }) => ({
      ...entry(position, ''),
      payload: { bytes: randomBytes(300), encoding: 'json+aes256gcm' as const },
    }));
    const kept = encodeBlock(noise);
    expect(kept.data.length).toBeLessThanOrEqual(kept.size);
    expect(readBack(noise)).toEqual(noise);
  });
});

describe('positions in a block', () => {
  it('take no bytes when they follow one another', () => {
    expect(encodePlaces([7, 8, 9])).toBeNull();
    expect(decodePlaces(7, 3, null)).toEqual([7, 8, 9]);
  });

  it('are found again however far apart', () => {
    const positions = [3, 4, 131, 132, 300, 17_000, 2 ** 33, 2 ** 52 + 1];
    expect(decodePlaces(3, positions.length, encodePlaces(positions))).toEqual(positions);
  });
});
