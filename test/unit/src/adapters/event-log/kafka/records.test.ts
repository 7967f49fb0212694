import { constants, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { crc32c } from '#adapters/event-log/kafka/crc32c.ts';
import { RecordSet } from '#adapters/event-log/kafka/record-decoder.ts';
import { encodeRecords, recordBatch } from '#adapters/event-log/kafka/record-encoder.ts';
import type { Message, ReadMessage } from '#ports/event-log.ts';
import { seedOfRun } from '#test/support/judges/random.ts';
import { message, textOf } from '#test/support/worlds/log.ts';

const now = 1_700_000_000_000;

interface Placement {
  readonly base: number;
  readonly producer?: number;
  readonly isTransactional?: boolean;
}

/** A batch as a broker keeps it: with its base offset, which the checksum does not cover. */
function stored(
  messages: readonly Message[],
  { base, producer = 1, isTransactional = false }: Placement,
) {
  const owner = { producerId: String(producer), producerEpoch: 0, sequence: 0, isTransactional };
  const batch = recordBatch(encodeRecords(messages, now), owner);
  batch.writeBigInt64BE(BigInt(base), 0);
  return batch;
}

/** The end of a transaction: a control batch of one record, whose key is version and type. */
function marker(base: number, producer: number, isCommit: boolean): Buffer {
  const key = Buffer.from([0, 0, 0, isCommit ? 1 : 0]).toString('latin1');
  const batch = stored([message(key)], { base, producer, isTransactional: true });
  batch.writeInt16BE(batch.readInt16BE(21) | 0x20, 21);
  batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
  return batch;
}

function decodeAll(set: RecordSet, from = 0): { messages: ReadMessage[]; nexts: number[] } {
  const messages: ReadMessage[] = [];
  const nexts: number[] = [];
  while (!set.isEmpty) {
    const decoded = set.decodeNext(from);
    messages.push(...decoded.messages);
    nexts.push(decoded.next);
  }
  return { messages, nexts };
}

describe('the checksum', () => {
  it('is CRC-32C (RFC 3720, appendix B.4)', () => {
    expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
    expect(crc32c(Buffer.alloc(32))).toBe(0x8a9136aa);
    expect(crc32c(Buffer.alloc(32, 0xff))).toBe(0x62a8ab43);
    expect(crc32c(Buffer.from(Array.from({ length: 32 }, (_, i) => i)))).toBe(0x46dd794e);
  });
});

describe('records', () => {
  const anyMessage = fc.record({
    key: fc.string({ unit: 'grapheme' }),
    value: fc.option(fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes))),
    headers: fc.dictionary(fc.stringMatching(/^[a-z-]{1,20}$/), fc.string({ unit: 'grapheme' }), {
      noNullPrototype: true,
    }),
    timestamp: fc.integer({ min: 0, max: 2 ** 42 }),
  });

  it('come back as they were, compressed or not', () => {
    const property = fc.property(
      fc.array(anyMessage, { minLength: 1, maxLength: 40 }),
      fc.integer({ min: 0, max: 2 ** 52 }),
      (messages, base) => {
        const { messages: read, nexts } = decodeAll(
          new RecordSet(stored(messages, { base }), []),
          base,
        );
        expect(nexts).toEqual([base + messages.length]);
        expect(
          read.map(({ key, value, headers, timestamp, offset }) => ({
            key,
            value: value === null ? null : Buffer.from(value),
            headers,
            timestamp,
            offset,
          })),
        ).toEqual(messages.map((one, i) => ({ ...one, offset: base + i })));
      },
    );
    fc.assert(property, { seed: seedOfRun() });
  });

  it('without a time get the one given', () => {
    const { messages } = decodeAll(new RecordSet(stored([message('a')], { base: 0 }), []));
    expect(messages[0]?.timestamp).toBe(now);
  });

  it('before the offset asked for are left out, though a batch comes whole', () => {
    const set = new RecordSet(stored([message('a'), message('b'), message('c')], { base: 10 }), []);
    expect(decodeAll(set, 11).messages.map(textOf)).toEqual(['b', 'c']);
  });

  it('of a batch that is cut off are left for the next fetch', () => {
    const whole = stored([message('a')], { base: 0 });
    const cut = stored([message('b')], { base: 1 });
    const set = new RecordSet(Buffer.concat([whole, cut.subarray(0, cut.length - 1)]), []);
    expect(set.next).toBe(1);
    expect(decodeAll(set).messages.map(textOf)).toEqual(['a']);
    expect(new RecordSet(cut.subarray(0, 30), []).next).toBeNull();
  });

  it('that were damaged on the way are refused with the offset', () => {
    const batch = stored([message('a', 'x'.repeat(1000))], { base: 7 });
    batch[batch.length - 1]! ^= 1;
    const set = new RecordSet(batch, []);
    expect(() => set.decodeNext(0)).toThrow(expect.objectContaining({ code: 'log_corrupt' }));
    expect(() => new RecordSet(batch, []).decodeNext(0)).toThrow('offset 7');
  });

  it('of a batch that compaction emptied still say where it ended', () => {
    const batch = stored([message('a'), message('b')], { base: 4 }).subarray(0, 61);
    batch.writeInt32BE(batch.length - 12, 8);
    batch.writeInt32BE(0, 57);
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    expect(decodeAll(new RecordSet(batch, []))).toEqual({ messages: [], nexts: [6] });
  });

  it('with an unknown codec are refused', () => {
    const batch = stored([message('a')], { base: 0 });
    batch.writeInt16BE(2, 21); // snappy
    batch.writeUInt32BE(crc32c(batch.subarray(21)), 17);
    const set = new RecordSet(batch, []);
    expect(() => set.decodeNext(0)).toThrow(expect.objectContaining({ code: 'log_corrupt' }));
  });

  it('are compressed with zstd where that saves bytes', () => {
    const text = 'same '.repeat(1000);
    const { bytes, isCompressed } = encodeRecords([message('a', text)], now);
    expect(isCompressed).toBe(true);
    const params = { [constants.ZSTD_c_compressionLevel]: 1 };
    expect(bytes.length).toBeLessThan(zstdCompressSync(Buffer.from(text), { params }).length + 40);
  });
});

describe('transactions', () => {
  const inTransaction = (base: number, producer: number, ...keys: string[]): Buffer =>
    stored(
      keys.map((key) => message(key)),
      { base, producer, isTransactional: true },
    );

  it('show what was committed, and no marker', () => {
    const set = new RecordSet(
      Buffer.concat([inTransaction(0, 1, 'a', 'b'), marker(2, 1, true)]),
      [],
    );
    const { messages, nexts } = decodeAll(set);
    expect(messages.map(textOf)).toEqual(['a', 'b']);
    expect(nexts).toEqual([2, 3]);
  });

  it('hide what was undone, of that producer and until its marker only', () => {
    const batches = [
      inTransaction(0, 1, 'undone'),
      inTransaction(1, 2, 'other'),
      stored([message('plain')], { base: 2 }),
      marker(3, 1, false),
      inTransaction(4, 1, 'later'),
      marker(5, 2, true),
      marker(6, 1, true),
      inTransaction(7, 2, 'undone too'),
      marker(8, 2, false),
    ];
    const aborted = [
      { producerId: 2n, firstOffset: 7 },
      { producerId: 1n, firstOffset: 0 },
    ];
    const { messages, nexts } = decodeAll(new RecordSet(Buffer.concat(batches), aborted));
    expect(messages.map(textOf)).toEqual(['other', 'plain', 'later']);
    expect(nexts.at(-1)).toBe(9);
  });
});

describe('a batch of a length that is none', () => {
  it.each([-12, 0, 48])('is corrupt: %i bytes', (length) => {
    const batch = stored([message('a')], { base: 7 });
    batch.writeInt32BE(length, 8);
    expect(() => new RecordSet(batch, [])).toThrow('The record batch at offset 7 is corrupt');
  });
});
