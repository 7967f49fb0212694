import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DirectoryView,
  crcAtPlace,
  decodeRow,
  encodeRow,
  type EncodeOptions,
  isIntact,
  type EncodedRow,
  type StoredRow,
} from '#adapters/event-log/embedded/row-format.ts';
import type { Message } from '#ports/event-log.ts';
import { seedOfRun } from '#test/support/judges/random.ts';

const partition = 7;
const base = 1_000;

function stored(row: EncodedRow): StoredRow {
  const next = base + row.count;
  return {
    base,
    next,
    codec: row.codec,
    crc: crcAtPlace(row.crc, partition, base, next),
    directory: new Uint8Array(row.data.slice(0, row.directoryLength)),
    body: new Uint8Array(row.data.slice(row.directoryLength)),
  };
}

const encode = (messages: readonly Message[], options: EncodeOptions = {}): StoredRow =>
  stored(encodeRow(messages, 0, messages.length, 5, options));

const anyMessage = fc.record({
  key: fc.string({ unit: 'binary', maxLength: 40 }),
  value: fc.option(fc.uint8Array({ maxLength: 2_000 })),
  headers: fc.dictionary(
    fc.constantFrom('ce_id', 'ce_type', 'svc-seq', 'é', 'x'),
    fc.string({ unit: 'binary', maxLength: 20 }),
    { noNullPrototype: true },
  ),
  timestamp: fc.double({ min: 0, max: 1e15, noNaN: true }),
});

describe('a row', () => {
  it('gives back the messages that were encoded', () => {
    const seed = seedOfRun();
    const property = fc.property(
      fc.array(anyMessage, { minLength: 1, maxLength: 60 }),
      fc.boolean(),
      (messages, isKept) => {
        const read = decodeRow(encode(messages, { isKept }), 0);
        expect(
          read.map(({ key, value, headers, timestamp }) => ({
            key,
            value: value === null ? null : new Uint8Array(value),
            headers,
            timestamp,
          })),
        ).toEqual(messages.map((one) => ({ ...one, timestamp: one.timestamp + 0 })));
        expect(read.map(({ offset }) => offset)).toEqual(messages.map((_, i) => base + i));
      },
    );
    fc.assert(property, { seed, numRuns: 150 });
  });

  it('gives the time of the encoding to messages without one', () => {
    const messages = [{ key: 'a', value: null, headers: {} }];
    expect(decodeRow(encode(messages), 0)[0]?.timestamp).toBe(5);
  });

  it('keeps holes between offsets and leaves out what lies before a position', () => {
    const messages = [0, 1, 2].map((i) => ({
      key: String(i),
      value: Buffer.from([i]),
      headers: {},
    }));
    const row = encode(messages, { offsets: [0, 10, 11] });
    expect(decodeRow(row, base + 1).map(({ offset }) => offset)).toEqual([base + 10, base + 11]);
    expect(decodeRow(row, base + 11).map(({ value }) => value?.[0])).toEqual([2]);
  });

  it('reads keys and tombstones from its directory alone', () => {
    const messages = ['a', 'b'].map((key) => ({
      key,
      value: key === 'a' ? null : Buffer.alloc(0),
      headers: {},
    }));
    const { body: _, ...row } = encode(messages);
    const view = new DirectoryView(row);
    expect([view.key(0), view.key(1)]).toEqual(['a', 'b']);
    expect([view.isTombstone(0), view.isTombstone(1)]).toEqual([true, false]);
  });

  it('is compressed as a whole: headers that repeat take next to nothing', () => {
    const headers = {
      ce_type: 'svc.record.updated',
      ce_source: '/environments/dev',
      a: 'constant',
    };
    const plain = Array.from({ length: 500 }, (_, i) => ({
      key: String(i),
      value: null,
      headers: {},
    }));
    const full = plain.map((message) => ({ ...message, headers }));
    const grown =
      encodeRow(full, 0, 500, 5).data.byteLength - encodeRow(plain, 0, 500, 5).data.byteLength;
    expect(grown).toBeLessThan(200);
  });

  it('is known as damaged when any byte or its place differs', () => {
    const row = encode([{ key: 'k', value: Buffer.from('some value'), headers: { a: 'b' } }]);
    expect(isIntact(row, partition)).toBe(true);
    expect(isIntact(row, partition + 1)).toBe(false);
    expect(isIntact({ ...row, base: base + 1 }, partition)).toBe(false);
    for (const part of ['directory', 'body'] as const) {
      for (let at = 0; at < row[part].length; at++) {
        const bytes = Uint8Array.from(row[part]);
        bytes[at] = (bytes[at] ?? 0) ^ 0x10;
        expect(isIntact({ ...row, [part]: bytes }, partition)).toBe(false);
      }
    }
  });
});
