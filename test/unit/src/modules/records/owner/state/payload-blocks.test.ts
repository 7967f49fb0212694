import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAtRestEncryption, type KeptPayload } from '#modules/records/owner/encryption.ts';
import {
  blockBytesMax,
  blockEntriesMax,
  entryBytes,
  type PlacedPayload,
} from '#modules/records/owner/state/payload-block.ts';
import { blockTables, PayloadBlocks } from '#modules/records/owner/state/payload-blocks.ts';
import { seeded, seedOfRun, type Random } from '#test/support/judges/random.ts';
import { memoryVault } from '#test/support/worlds/records.ts';

const stream = 1;
const vault = memoryVault();

let folder = '';
let database: DatabaseSync;
let blocks: PayloadBlocks;

/** As after a start: what was not committed is lost, and nothing is in memory. */
function open(): void {
  database = new DatabaseSync(join(folder, 'payloads.db'));
  database.exec('CREATE TABLE IF NOT EXISTS streams (no INTEGER PRIMARY KEY, key TEXT)');
  database.exec(`INSERT OR IGNORE INTO streams VALUES (${stream}, 'env/conn/Contact/base')`);
  database.exec(blockTables);
  blocks = new PayloadBlocks(database, createAtRestEncryption(vault));
}

function crash(): void {
  database.close();
  open();
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-payload-blocks-'));
  open();
});
afterEach(() => {
  database.close();
  rmSync(folder, { recursive: true, force: true });
});

const entry = (
  position: number,
  text: string | null = `{"name":"name ${position}"}`,
  encoding: KeptPayload['encoding'] = text === null ? 'none' : 'json',
): PlacedPayload => ({
  position,
  id: `record-${position}`,
  payload: { bytes: text === null ? null : Buffer.from(text), encoding },
});
const entries = (from: number, count: number): PlacedPayload[] =>
  Array.from({ length: count }, (_, at) => entry(from + at));

/** An entry of so many bytes before compression. */
const entryOf = (position: number, bytes: number): PlacedPayload =>
  entry(position, 'x'.repeat(bytes - entryBytes(entry(position, ''))));

function textsAt(...positions: number[]): (string | null | undefined)[] {
  const found = new Map<number, KeptPayload>();
  blocks.read(stream, positions, found);
  return positions.map((position) => {
    const payload = found.get(position);
    if (payload === undefined) return undefined;
    return payload.bytes === null ? null : Buffer.from(payload.bytes).toString();
  });
}

function scanned(from = 0, through = 1e6): [position: number, id: string, hasPayload: boolean][] {
  const all: [number, string, boolean][] = [];
  blocks.scan(stream, from, through, (position, id, hasPayload) => {
    all.push([position, id(), hasPayload()]);
    return true;
  });
  return all;
}

interface BlockRow {
  readonly no: number;
  readonly first: number;
  readonly last: number;
  readonly count: number;
}

const rows = (): BlockRow[] =>
  database
    .prepare('SELECT no, first, last, count FROM payload_blocks ORDER BY stream, first')
    .all() as unknown as BlockRow[];
const dataNumbers = (): number[] =>
  database
    .prepare('SELECT no FROM payload_data ORDER BY no')
    .all()
    .map(({ no }) => Number(no));
const numbersOf = (list: readonly BlockRow[]): number[] =>
  list.map(({ no }) => no).sort((a, b) => a - b);

/** Blocks do not overlap, are not too long, and each has its data and no other has. */
function expectSound(): void {
  const all = rows();
  for (const [at, { first, last, count }] of all.entries()) {
    expect(count).toBeLessThanOrEqual(blockEntriesMax);
    expect(last).toBeGreaterThanOrEqual(first + count - 1);
    expect(first).toBeGreaterThan(all[at - 1]?.last ?? -1);
  }
  expect(dataNumbers()).toEqual(numbersOf(all));
}

describe('blocks of payloads', () => {
  it('give back what was put, and nothing of other positions or streams', () => {
    blocks.put(stream, [entry(3), entry(5, null), entry(6, ''), entry(9, '{"s":1}', 'secret')]);
    const expected = [undefined, '{"name":"name 3"}', undefined, null, '', '{"s":1}', undefined];
    expect(textsAt(2, 3, 4, 5, 6, 9, 10)).toEqual(expected);
    crash();
    expect(textsAt(2, 3, 4, 5, 6, 9, 10)).toEqual(expected);
    const found = new Map<number, KeptPayload>();
    blocks.read(stream + 1, [3, 5, 6], found);
    expect(found.size).toBe(0);
  });

  it('end after the last entry that fits by number', () => {
    blocks.put(stream, entries(1, 2 * blockEntriesMax + 1));
    expect(rows().map(({ first, count }) => [first, count])).toEqual([
      [1, blockEntriesMax],
      [blockEntriesMax + 1, blockEntriesMax],
      [2 * blockEntriesMax + 1, 1],
    ]);
    const ends = [1, blockEntriesMax, blockEntriesMax + 1, 2 * blockEntriesMax + 1];
    expect(textsAt(...ends)).toEqual(ends.map((position) => `{"name":"name ${position}"}`));
    expectSound();
  });

  it.each([
    ['exactly', 0, 1],
    ['by a byte not', 1, 2],
  ])('end after the last entry that fits by bytes: %s', (_, more, count) => {
    const half = blockBytesMax / 2;
    blocks.put(stream, [entryOf(1, half), entryOf(2, half + more)]);
    expect(rows()).toHaveLength(count);
    expect(textsAt(1, 2).map((text) => text?.[0])).toEqual(['x', 'x']);
  });

  it('hold a payload alone that is larger than a block', () => {
    blocks.put(stream, [entry(1), entryOf(2, 3 * blockBytesMax), entry(3)]);
    expect(rows().map(({ first, last }) => [first, last])).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    expect(textsAt(2)[0]).toHaveLength(3 * blockBytesMax - entryBytes(entry(2, '')));
  });

  it('take entries that fall into a block, between blocks, and in place of others', () => {
    blocks.put(stream, [entry(10), entry(30)]);
    blocks.put(
      stream,
      Array.from({ length: blockEntriesMax }, (_, at) => entry(100 + 2 * at)),
    );
    blocks.put(stream, [entry(5), entry(20), entry(50), entry(101), entry(102, 'other')]);
    expect(textsAt(5, 20, 50, 101, 102, 104)).toEqual([
      ...[5, 20, 50, 101].map((position) => `{"name":"name ${position}"}`),
      'other',
      '{"name":"name 104"}',
    ]);
    const positions = scanned().map(([position]) => position);
    expect(positions).toEqual([...positions].sort((a, b) => a - b));
    expectSound();
  });

  it('are scanned between two positions, and no further than is asked for', () => {
    blocks.put(stream, entries(1, 70));
    expect(scanned(23, 26).map(([position]) => position)).toEqual([23, 24, 25, 26]);
    expect(scanned(71, 99)).toEqual([]);
    const some: number[] = [];
    blocks.scan(stream, 1, 70, (position) => some.push(position) < 30);
    expect(some).toHaveLength(30);
  });
});

describe('payloads that expire', () => {
  it('keep the id of their record: only the payload is gone', () => {
    blocks.put(stream, entries(1, 3));
    blocks.put(stream, [entry(2, null)]);
    expect(scanned()).toEqual([
      [1, 'record-1', true],
      [2, 'record-2', false],
      [3, 'record-3', true],
    ]);
    expect(textsAt(2)).toEqual([null]);
  });

  it('leave nothing in the file when all entries of a block are removed', () => {
    blocks.put(stream, entries(1, 2 * blockEntriesMax));
    const second = Array.from({ length: blockEntriesMax }, (_, at) => blockEntriesMax + 1 + at);
    blocks.remove(stream, second);
    expect(rows().map(({ first }) => first)).toEqual([1]);
    expect(textsAt(1, ...second.slice(0, 2))).toEqual(['{"name":"name 1"}', undefined, undefined]);
    blocks.remove(
      stream,
      entries(1, blockEntriesMax).map(({ position }) => position),
    );
    expect([rows(), dataNumbers(), scanned()]).toEqual([[], [], []]);
  });

  it('are marked until a quarter is left, then the block is written without them', () => {
    blocks.put(stream, entries(1, 24));
    const { no } = rows()[0]!;
    const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1);
    blocks.remove(stream, upTo(17));
    expect(dataNumbers()).toEqual([no]);
    blocks.remove(stream, [18]);
    expect(dataNumbers()).not.toEqual([no]);
    expect(rows().map(({ first, count }) => [first, count])).toEqual([[19, 6]]);
    expect(scanned().map(([position]) => position)).toEqual([19, 20, 21, 22, 23, 24]);
    expectSound();
  });

  it('are removed once: what is gone or never was changes nothing', () => {
    blocks.put(stream, entries(1, 8));
    blocks.remove(stream, [2]);
    const before = scanned();
    blocks.remove(stream, [0, 2, 99]);
    expect(scanned()).toEqual(before);
  });
});

describe('a crash', () => {
  it('between the data of a block and its reference leaves neither', () => {
    blocks.put(stream, entries(1, 10));
    const [before, data] = [rows(), dataNumbers()];
    database.exec('BEGIN');
    blocks.put(stream, entries(11, 60));
    blocks.remove(stream, [1, 2]);
    database.exec(`DELETE FROM payload_blocks WHERE first > 40`);
    crash();
    expect([rows(), dataNumbers()]).toEqual([before, data]);
    expect(scanned()).toHaveLength(10);
    // Numbers that were lost with the crash are used again, for other data.
    blocks.put(stream, [entry(11, 'after')]);
    expect(textsAt(1, 11)).toEqual(['{"name":"name 1"}', 'after']);
    expectSound();
  });

  it('keeps the replaced block until its replacement is committed', () => {
    blocks.put(stream, entries(1, 24));
    database.exec('BEGIN');
    blocks.put(stream, [entry(5, 'replaced')]);
    expect(textsAt(5)).toEqual(['replaced']);
    crash();
    expect(textsAt(5)).toEqual(['{"name":"name 5"}']);
    database.exec('BEGIN');
    blocks.put(stream, [entry(5, 'replaced')]);
    database.exec('COMMIT');
    crash();
    expect(textsAt(4, 5)).toEqual(['{"name":"name 4"}', 'replaced']);
  });
});

describe('a damaged block', () => {
  const damage = (sql: string): void => {
    const { no } = rows()[0]!;
    database.prepare(sql).run(no);
    crash();
  };

  it.each([
    ['is cut', 'UPDATE payload_data SET data = substr(data, 1, length(data) / 2) WHERE no = ?'],
    ['has no data', 'DELETE FROM payload_data WHERE no = ?'],
    ['is empty', "UPDATE payload_data SET data = x'' WHERE no = ?"],
  ])('that %s is an error for its own entries alone', (_, sql) => {
    blocks.put(stream, entries(1, 2 * blockEntriesMax));
    damage(sql);
    expect(() => textsAt(1)).toThrow();
    expect(() => textsAt(blockEntriesMax)).toThrow();
    expect(textsAt(blockEntriesMax + 1)).toEqual([`{"name":"name ${blockEntriesMax + 1}"}`]);
  });

  it('never gives a secret back that was changed, moved or cut', () => {
    const secrets = entries(1, 2 * blockEntriesMax).map(({ position }) =>
      entry(position, `{"secret":${position}}`, 'secret'),
    );
    blocks.put(stream, secrets);
    const [one, other] = rows();
    database
      .prepare(
        'UPDATE payload_data SET secrets = (SELECT secrets FROM payload_data WHERE no = ?) WHERE no = ?',
      )
      .run(other!.no, one!.no);
    crash();
    expect(() => textsAt(1)).toThrow(expect.objectContaining({ code: 'invalid_credentials' }));
    damage('UPDATE payload_data SET secrets = NULL WHERE no = ?');
    expect(() => textsAt(1)).toThrow();
    expect(textsAt(other!.first)).toEqual([`{"secret":${other!.first}}`]);
  });
});

const seed = seedOfRun();

describe(`blocks of payloads beside a map (seed ${seed})`, () => {
  type Model = Map<number, string | null>;

  const ascending = (random: Random, below: number): number[] => {
    const count = 1 + random.int(random.chance(20) ? 60 : 6);
    const base = random.int(below);
    const step = random.chance(60) ? 1 : 1 + random.int(9);
    return Array.from({ length: count }, (_, at) => base + at * step);
  };

  function change(random: Random, model: Model): void {
    const positions = ascending(random, 400);
    if (random.chance(35)) {
      blocks.remove(stream, positions);
      for (const position of positions) model.delete(position);
      return;
    }
    const put = positions.map((position) => {
      const text = random.chance(10) ? null : `${position}-`.repeat(1 + random.int(400));
      return entry(position, text, text !== null && random.chance(30) ? 'secret' : undefined);
    });
    blocks.put(stream, put);
    for (const { position, payload } of put) {
      model.set(position, payload.bytes === null ? null : Buffer.from(payload.bytes).toString());
    }
  }

  it('have the same entries after any changes, commits and crashes', () => {
    const random = seeded(seed);
    let committed: Model = new Map();
    for (let round = 0; round < 60; round += 1) {
      const model: Model = new Map(committed);
      database.exec('BEGIN');
      for (let n = random.int(8); n >= 0; n -= 1) change(random, model);
      const isLost = random.chance(25);
      if (!isLost) database.exec('COMMIT');
      if (isLost || random.chance(20)) crash();
      if (!isLost) committed = model;
      const positions = [...committed.keys()].sort((a, b) => a - b);
      expect(scanned().map(([position]) => position)).toEqual(positions);
      const asked = Array.from({ length: 520 }, (_, at) => at);
      expect(textsAt(...asked)).toEqual(asked.map((position) => committed.get(position)));
      expectSound();
    }
  });
});
