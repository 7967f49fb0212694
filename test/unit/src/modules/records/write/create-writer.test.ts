import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/stable-json.ts';
import { recordCommandsTopic, type RecordCommandValue } from '#modules/records/model/commands.ts';
import {
  anOrigin,
  aStream,
  openRecordsWorld,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const stream = aStream();
const origin = anOrigin();

async function commands(world: RecordsWorld): Promise<RecordCommandValue[]> {
  const codec = await world.schemas.codec<RecordCommandValue>(recordCommandsTopic);
  const messages = world.log.partitionsOf(recordCommandsTopic).flatMap((kept) => kept.messages);
  return messages.map(({ value }) => codec.decode(value!));
}

function payloadsOf({ ends, payloads }: RecordCommandValue): Json[] {
  return ends.map((end, i) => {
    const text = Buffer.from(payloads.subarray(i === 0 ? 0 : ends[i - 1], end)).toString();
    return JSON.parse(text) as Json;
  });
}

describe('saving records', () => {
  it('keeps numbers as texts, and drops our own metadata', async () => {
    await using world = await openRecordsWorld();
    const records = [
      { id: 7, a: 1 },
      { id: 0 },
      { id: 0.1 + 0.2 },
      { id: ' ' },
      { id: 'z', _svc_metadata: { cursor: 'c' }, b: null },
    ];
    await world.writer.save(stream, origin, records);
    const [command] = await commands(world);
    expect(command?.ids).toEqual(['7', '0', '0.30000000000000004', ' ', 'z']);
    expect(payloadsOf(command!)).toEqual([
      { id: '7', a: 1 },
      { id: '0' },
      { id: '0.30000000000000004' },
      { id: ' ' },
      { id: 'z', b: null },
    ]);
  });

  it('takes the last of the records with one id', async () => {
    await using world = await openRecordsWorld();
    await world.writer.save(stream, origin, [{ id: 1, v: 1 }, { id: 'b' }, { id: '1', v: 2 }]);
    const [command] = await commands(world);
    expect(payloadsOf(command!)).toEqual([{ id: '1', v: 2 }, { id: 'b' }]);
  });

  it.each([
    ['no id', {}],
    ['an empty id', { id: '' }],
    ['a null id', { id: null }],
    ['NUL in its id', { id: 'a\0' }],
    ['a lone surrogate in its id', { id: 'a\ud800' }],
    ['a number that has lost digits as its id', { id: 2 ** 53 }],
    ['a number of an exponent as its id', { id: -1e21 }],
    ['NaN as its id', { id: NaN }],
    ['true as its id', { id: true }],
    ['an id of 256 characters', { id: 'x'.repeat(256) }],
    ['an object as its id', { id: {} }],
    ['no fields, for it is a list', []],
    ['no fields, for it is null', null],
  ])('refuses the whole call for a record with %s', async (_name, bad) => {
    await using world = await openRecordsWorld();
    const saving = world.writer.save(stream, origin, [{ id: 'good' }, bad]);
    await expect(saving).rejects.toMatchObject({ code: 'invalid_sync_record' });
    expect(await commands(world)).toEqual([]);
  });

  it('refuses the whole call for a record over 1 MB, and names it', async () => {
    await using world = await openRecordsWorld();
    const large = { id: 'large', text: 'ü'.repeat(500_000) };
    const saving = world.writer.save(stream, origin, [{ id: 'good' }, large]);
    await expect(saving).rejects.toMatchObject({
      code: 'record_too_large',
      message: expect.stringContaining('"large"') as unknown,
    });
    expect(await commands(world)).toEqual([]);
  });

  it('splits a call at 1000 records and at 1 MB, and numbers the parts in order', async () => {
    await using world = await openRecordsWorld();
    const many = Array.from({ length: 2300 }, (_, i) => ({ id: `r${i}` }));
    await world.writer.save(stream, origin, many);
    // Of one, two and three bytes a character, and all of them near the limit.
    const texts = ['x'.repeat(400_000), 'ü'.repeat(200_000), '€'.repeat(133_000)];
    const large = Array.from({ length: 5 }, (_, i) => ({ id: `l${i}`, text: texts[i % 3]! }));
    await world.writer.save(stream, origin, large);
    const sent = await commands(world);
    expect(sent.flatMap(payloadsOf)).toEqual([...many, ...large]);
    expect(sent.map(({ ids }) => ids.length)).toEqual([1000, 1000, 300, 2, 2, 1]);
    expect(sent.flatMap(({ ids }) => ids)).toEqual([...many, ...large].map(({ id }) => id));
    const numbers = sent.map(({ n }) => n);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });

  it('sends nothing for an empty list', async () => {
    await using world = await openRecordsWorld();
    await world.writer.save(stream, origin, []);
    expect(await commands(world)).toEqual([]);
  });

  it('gives equal payloads equal hashes, different ones in another environment', async () => {
    await using world = await openRecordsWorld();
    const record = { id: 'a', v: 1 };
    await world.writer.save(stream, origin, [record]);
    await world.writer.save(aStream({ model: 'Lead' }), origin, [record]);
    await world.writer.save(aStream({ environmentUid: 'other' }), origin, [record]);
    await using _owners = await world.startOwners();
    for (const model of ['Contact', 'Lead']) {
      await world.writer.barrier(aStream({ model }), origin);
    }
    await world.writer.barrier(aStream({ environmentUid: 'other' }), origin);
    const hashes = (await world.changes()).map(({ payload_hash: hash }) => hash);
    expect(hashes).toHaveLength(3);
    expect(hashes.every((hash) => /^[0-9a-f]{32}$/.test(hash))).toBe(true);
    expect(new Set(hashes).size).toBe(2);
  });

  it('seals payloads where the environment says so: no byte of them is readable', async () => {
    await using world = await openRecordsWorld();
    world.payloadMode = 'sealed';
    await world.writer.save(stream, origin, [{ id: 'a', secret: 'canary' }]);
    const [command] = await commands(world);
    expect(command?.encoding).toBe('json-block+aes256gcm');
    expect(Buffer.from(command!.payloads).includes('canary')).toBe(false);
  });
});

describe('an append that the log does not acknowledge', () => {
  it('is repeated with the same number, and fails when it stays so', async () => {
    await using world = await openRecordsWorld();
    const faults = ['unsure-written', 'unsure-lost'] as const;
    let asked = 0;
    world.log.fault = () => faults[asked++] ?? 'none';
    await world.writer.save(stream, origin, [{ id: 'a' }]);
    const sent = await commands(world);
    expect(sent.map(({ ids }) => ids)).toEqual([['a'], ['a']]);
    expect(sent[0]?.n).toBe(sent[1]?.n);
  });
});
