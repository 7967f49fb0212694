import { createDecipheriv, randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import {
  payloadContext,
  PayloadOpener,
  PayloadSealer,
  sealedEncoding,
} from '#modules/records/model/sealed-payload.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';

const seed = seedOfRun();
const key = randomBytes(32);
const cipher = createAesGcm(key);
const vault = {
  sealBytes: (_keyId: string, plain: Uint8Array, context: string) => cipher.seal(plain, context),
  openBytes: (_keyId: string, sealed: Uint8Array, context: string) => cipher.open(sealed, context),
};
const owner = { key: 'env/conn/Contact/base', connectionUid: 'conn' };
const gone = expect.objectContaining({ code: 'invalid_credentials' }) as Error;

const contact = (random: Random, index: number) =>
  JSON.stringify({
    id: `c${index}`,
    email: `${random.pick(['ada', 'bob', 'eve'])}.${random.int(1e9)}@example.com`,
    stage: random.pick(['lead', 'won', 'lost', 'ключ-鍵-🔑']),
    note: 'words '.repeat(random.int(random.chance(2) ? 9000 : 9)),
  });

const sealedMany = (count: number, random = seeded(seed), sealer = new PayloadSealer(vault)) =>
  Array.from({ length: count }, (_, index) => {
    const json = Buffer.from(contact(random, index));
    return { recordId: `c${index}`, json, bytes: sealer.seal(owner, `c${index}`, json) };
  });

const openedBy = (opener: PayloadOpener, recordId: string, bytes: Uint8Array): Buffer =>
  opener.open(owner, { recordId, encoding: sealedEncoding, bytes });

/** As docs/records.md describes it, with nothing of ours. */
function openedByTheBook(bytes: Buffer, recordId: string): Buffer {
  const open = (sealed: Buffer, context: string): Buffer => {
    const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, 12));
    decipher.setAAD(Buffer.from(context));
    decipher.setAuthTag(sealed.subarray(-16));
    return Buffer.concat([decipher.update(sealed.subarray(12, -16)), decipher.final()]);
  };
  const end = 2 + bytes.readUInt16BE();
  const sealedDictionary = bytes.subarray(2, end);
  const tag = sealedDictionary.subarray(-16).toString('hex');
  const body = open(bytes.subarray(end), `deflated/${owner.key}/${recordId}/${tag}`);
  if (end === 2) return inflateRawSync(body);
  const dictionary = inflateRawSync(open(sealedDictionary, `dictionary/${owner.key}`));
  return inflateRawSync(body, { dictionary });
}

describe(`a payload sealed for an event (seed ${seed})`, () => {
  const all = sealedMany(1100);

  it('is opened alone, also by what knows its key and the documented form only', () => {
    for (const { recordId, json, bytes } of all) {
      expect(openedBy(new PayloadOpener(vault), recordId, bytes).equals(json)).toBe(true);
    }
    for (const { recordId, json, bytes } of [all[0]!, all[40]!, all[1099]!]) {
      expect(openedByTheBook(bytes, recordId).equals(json)).toBe(true);
    }
  });

  it('shrinks by what the payloads of its stream have in common', () => {
    const bodyOf = ({ bytes }: { bytes: Buffer }) => bytes.length - 2 - bytes.readUInt16BE();
    const short = all.slice(600).filter(({ json }) => json.length < 300);
    const sum = (of: readonly number[]) => of.reduce((total, one) => total + one, 0);
    expect(sum(short.map(bodyOf))).toBeLessThan(0.75 * sum(short.map(({ json }) => json.length)));
  });

  it('shows nothing of itself, nor of the names in it', () => {
    for (const { bytes } of all) {
      for (const text of ['email', 'example', 'stage', 'words'])
        expect(bytes.includes(text)).toBe(false);
    }
  });

  it('is refused when any byte was changed, or it is of another record, stream or dictionary', () => {
    const opener = new PayloadOpener(vault);
    const { recordId, bytes } = all[1000]!;
    openedBy(opener, recordId, bytes);
    const random = seeded(seed);
    for (let round = 0; round < 200; round++) {
      const changed = Buffer.from(bytes);
      const at = round < 20 ? round : random.int(bytes.length);
      changed[at] = (changed[at] ?? 0) ^ (1 << random.int(8));
      expect(() => openedBy(opener, recordId, changed)).toThrow(gone);
    }
    for (const length of [0, 1, 2, 40, bytes.length - 1]) {
      expect(() => openedBy(opener, recordId, bytes.subarray(0, length))).toThrow(gone);
    }
    expect(() => openedBy(opener, 'other', bytes)).toThrow(gone);
    const stream = { ...owner, key: 'env/conn/Deal/base' };
    expect(() => opener.open(stream, { recordId, encoding: sealedEncoding, bytes })).toThrow(gone);
    const earlier = all[100]!.bytes;
    const swapped = Buffer.concat([
      earlier.subarray(0, 2 + earlier.readUInt16BE()),
      bytes.subarray(2 + bytes.readUInt16BE()),
    ]);
    expect(() => openedBy(opener, recordId, swapped)).toThrow(gone);
  });

  it('never has the dictionary of another stream', () => {
    const sealer = new PayloadSealer(vault);
    sealedMany(40, seeded(seed), sealer);
    const other = { key: 'env/other/Contact/base', connectionUid: 'other' };
    const bytes = sealer.seal(other, 'c1', Buffer.from('{"id":"c1"}'));
    expect(bytes.readUInt16BE()).toBe(0);
  });

  it('is read as before where an earlier release wrote it', () => {
    const opener = new PayloadOpener(vault);
    const bytes = cipher.seal(Buffer.from('{"id":"a"}'), payloadContext(owner.key, 'a'));
    const given = { recordId: 'a', encoding: 'json+aes256gcm', bytes } as const;
    expect(opener.open(owner, given).toString()).toBe('{"id":"a"}');
    const plain = { recordId: 'a', encoding: 'json', bytes: Buffer.from('{}') } as const;
    expect(opener.open(owner, plain).toString()).toBe('{}');
  });
});
