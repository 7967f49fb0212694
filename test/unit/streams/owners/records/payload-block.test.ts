import { describe, expect, it } from 'vitest';
import {
  Block,
  decodePlaces,
  encodeBlock,
  encodePlaces,
  type PlacedPayload,
} from '../../../../../streams/owners/records/payload-block.ts';

const entry = (position: number, text: string | null, isSealed = false): PlacedPayload => ({
  position,
  id: `record-${position}`,
  payload: { bytes: text === null ? null : Buffer.from(text), isSealed },
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
      entry(4, 'sealed', true),
      entry(5, null, true),
      { ...entry(6, 'x'.repeat(100_000)), id: 'ключ-鍵-🔑' },
      { ...entry(7, '{}'), id: '' },
    ];
    expect(readBack(entries)).toEqual(entries);
    expect(readBack(entries.slice(0, 2))).toEqual(entries.slice(0, 2));
  });

  it('is shorter than the payloads together, unless they are sealed', () => {
    const plain = Array.from({ length: 32 }, (_, i) => entry(i, `{"name":"name ${i}","b":true}`));
    const { data, size } = encodeBlock(plain);
    expect(data.length).toBeLessThan(size / 3);
    const sealed = plain.map((one) => ({ ...one, payload: { ...one.payload, isSealed: true } }));
    const kept = encodeBlock(sealed);
    expect(kept.data.length).toBe(kept.size);
    expect(readBack(sealed)).toEqual(sealed);
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
