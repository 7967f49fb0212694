import { describe, expect, it } from 'vitest';
import { RowReader, TabWriter } from '#tables/rows.ts';

const textOf = (rows: TabWriter): string => Buffer.from(rows.text()).toString();

describe('TabWriter', () => {
  it('separates values and rows, and escapes what would separate', () => {
    const rows = new TabWriter(1);
    rows.uint(0);
    rows.string('a\tb\nc\\d\r\0e');
    rows.endRow();
    rows.uint(Number.MAX_SAFE_INTEGER);
    rows.ascii('');
    rows.endRow();
    expect(textOf(rows)).toBe('0\ta\\tb\\nc\\\\d\\r\\0e\n9007199254740991\t\n');
    expect(rows.rows).toBe(2);
  });

  it('writes any bytes, whatever the value before began with', () => {
    const rows = new TabWriter(1);
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const values = [
      all,
      all,
      all.subarray(0, 8),
      all.subarray(9),
      all.subarray(9),
      Buffer.alloc(0),
    ];
    for (const value of values) rows.binary(value, Math.min(value.length, 100));
    rows.endRow();
    const escaped = { 9: '\\t', 10: '\\n', 13: '\\r', 92: '\\\\', 0: '\\0' } as Record<
      number,
      string
    >;
    const wanted = values.map((value) =>
      [...value].map((byte) => escaped[byte] ?? String.fromCharCode(byte)).join(''),
    );
    expect(Buffer.from(rows.text()).toString('latin1')).toBe(`${wanted.join('\t')}\n`);
  });

  it('writes times with microseconds, so that none is read as a calendar date', () => {
    const rows = new TabWriter();
    rows.time(1_769_932_800_000_001);
    rows.time(0);
    rows.time(null);
    rows.endRow();
    expect(textOf(rows)).toBe('1769932800.000001\t0000000000.000000\t\\N\n');
  });

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('refuses %d and forgets the row', (value) => {
    const rows = new TabWriter();
    rows.uint(1);
    rows.endRow();
    rows.begin();
    rows.uint(2);
    expect(() => rows.uint(value)).toThrow(RangeError);
    rows.undo();
    expect(textOf(rows)).toBe('1\n');
  });
});

describe('RowReader', () => {
  it('hands out the text of the row before where it is the same, and only there', () => {
    const texts = ['ADDED', 'ADDED', 'added', 'ADD', '', 'UPDATED'];
    const bytes = texts.flatMap((text) => [text.length, ...Buffer.from(text)]);
    const reader = new RowReader(Buffer.from(bytes));
    let last = '';
    for (const text of texts) expect((last = reader.asciiLike(last))).toBe(text);
    expect(reader.hasMore).toBe(false);
  });
});
