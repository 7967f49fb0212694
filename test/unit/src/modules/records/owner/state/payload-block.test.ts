import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createAtRestEncryption, type KeptEncoding } from '#modules/records/owner/encryption.ts';
import {
  Block,
  decodePlaces,
  encodeBlock,
  encodePlaces,
  type PlacedPayload,
} from '#modules/records/owner/state/payload-block.ts';
import { memoryVault } from '#test/support/worlds/records.ts';

const sealing = createAtRestEncryption(memoryVault());
const seal: Parameters<typeof encodeBlock>[1] = (together, plain) =>
  sealing.seal('env/conn/Contact/base', together, plain);
const open: ConstructorParameters<typeof Block>[2] = (together, sealed) =>
  sealing.open('env/conn/Contact/base', together, sealed);

const entry = (
  position: number,
  text: string | null,
  encoding: KeptEncoding = text === null ? 'none' : 'json',
): PlacedPayload => ({
  position,
  id: `record-${position}`,
  payload: { bytes: text === null ? null : Buffer.from(text), encoding },
});

function readBack(entries: readonly PlacedPayload[]) {
  const block = new Block(encodeBlock(entries, seal), entries.length, open);
  return entries.map(({ position }, index) => {
    const { encoding, bytes } = block.payload(index);
    return { position, id: block.id(index), payload: { encoding, bytes } };
  });
}

describe('a block of payloads', () => {
  it('gives back what was put into it, of whatever kind', () => {
    const entries = [
      entry(1, '{"a":1}'),
      entry(2, null),
      entry(3, ''),
      entry(4, 'sealed', 'json+aes256gcm'),
      entry(5, 'deflated', 'json+deflate+aes256gcm'),
      entry(8, '{"b":1}', 'secret'),
      entry(9, '{"b":22}', 'secret'),
      { ...entry(6, 'x'.repeat(100_000)), id: 'ключ-鍵-🔑' },
      { ...entry(7, '{}'), id: '' },
    ];
    expect(readBack(entries)).toEqual(entries);
    expect(readBack(entries.slice(0, 2))).toEqual(entries.slice(0, 2));
  });

  it('is shorter than the payloads together, unless they are like noise', () => {
    const plain = Array.from({ length: 32 }, (_, i) => entry(i, `{"name":"name ${i}","b":true}`));
    const { data, size } = encodeBlock(plain, seal);
    expect(data.length).toBeLessThan(size / 3);
    const noise = plain.map(({ position }) => ({
      ...entry(position, ''),
      payload: { bytes: randomBytes(300), encoding: 'json+aes256gcm' as const },
    }));
    const kept = encodeBlock(noise, seal);
    expect(kept.data.length).toBeLessThanOrEqual(kept.size);
    expect(readBack(noise)).toEqual(noise);
  });
});

describe('secrets in a block', () => {
  const secrets = Array.from({ length: 24 }, (_, i) =>
    entry(i, `{"name":"Ada ${i}","city":"London"}`, i % 6 === 0 ? 'json' : 'secret'),
  );

  it('are compressed before they are sealed, and nothing shows them', () => {
    const { data, secrets: sealed, size } = encodeBlock(secrets, seal);
    expect(data.length + (sealed?.length ?? 0)).toBeLessThan(size / 2);
    const alone = encodeBlock(secrets.slice(1, 3), seal);
    for (const bytes of [alone.data, alone.secrets!]) {
      expect(Buffer.from(bytes).includes('Ada')).toBe(false);
    }
    expect(readBack(secrets)).toEqual(secrets);
  });

  it('are opened when they are asked for, and refused with other ids or changed bytes', () => {
    const encoded = encodeBlock(secrets, seal);
    const never = new Block(encoded, secrets.length, () => {
      throw new Error('opened');
    });
    expect(never.id(1)).toBe('record-1');
    expect(never.hasPayload(1)).toBe(true);
    expect(never.payload(6).bytes?.length).toBeGreaterThan(0);
    expect(() => never.payload(1).bytes).toThrow('opened');
    const changed = Buffer.from(encoded.secrets!);
    changed[20] = (changed[20] ?? 0) ^ 1;
    const gone = expect.objectContaining({ code: 'invalid_credentials' }) as Error;
    const wrong = new Block({ ...encoded, secrets: changed }, secrets.length, open);
    expect(() => wrong.payload(1).bytes).toThrow(gone);
    const others = encodeBlock(
      secrets.map((one) => ({ ...one, id: `${one.id}-x` })),
      seal,
    );
    const swapped = new Block({ ...encoded, data: others.data }, secrets.length, open);
    expect(() => swapped.payload(1).bytes).toThrow(gone);
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
