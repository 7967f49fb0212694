import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CheckedDatabase } from '#control-plane/checked-database.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';

const random = seeded(seedOfRun());
console.info(`SVC_TEST_SEED=${random.seed}`);

const checkpointPages = 30;
let folder = '';
const inFolder = (...names: string[]) => join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-checked-database-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const opened = (name: string) =>
  new CheckedDatabase(inFolder(name, 'some.db'), 'PRAGMA synchronous = NORMAL', checkpointPages);

const rowsOf = (database: DatabaseSync): string =>
  JSON.stringify(database.prepare('SELECT k, v FROM t ORDER BY k').all());

/** Commits at random, and copies the folder as a kill would leave it. Returns what was committed, in order. */
function written(commits: number): readonly string[] {
  mkdirSync(inFolder('live'), { recursive: true });
  const database = opened('live');
  database.exec('CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT); CREATE INDEX by_v ON t (v)');
  const put = database.prepare('INSERT OR REPLACE INTO t VALUES (?, ?)');
  const states = [rowsOf(database)];
  for (let commit = 0; commit < commits; commit += 1) {
    database.exec('BEGIN');
    for (let row = 0; row < 10; row += 1)
      put.run(random.int(800), `${'x'.repeat(60)} ${random.int(1e9)}`);
    database.exec('COMMIT');
    database.checkpointWhenDue();
    states.push(rowsOf(database));
  }
  cpSync(inFolder('live'), inFolder('killed'), { recursive: true });
  database.close();
  return states;
}

const ways: Readonly<Record<string, (file: string) => void>> = {
  flipped(file) {
    const bytes = readFileSync(file);
    const position = random.int(bytes.length);
    bytes[position] = bytes[position]! ^ (1 << random.int(8));
    writeFileSync(file, bytes);
  },
  zeroed(file) {
    const bytes = readFileSync(file);
    const position = random.int(bytes.length);
    bytes.fill(0, position, Math.min(bytes.length, position + 16));
    writeFileSync(file, bytes);
  },
  cut: (file) => truncateSync(file, random.int(statSync(file).size)),
  deleted: (file) => rmSync(file),
};

describe('a database with checksums of its pages', () => {
  it('is what was committed last after a kill and after a close', () => {
    const states = written(60);
    for (const name of ['killed', 'live']) {
      const database = opened(name);
      expect(rowsOf(database)).toBe(states.at(-1));
      expect(database.wasCompared).toBe(true);
      database.close();
    }
  });

  it('is refused, or is what was committed once, whatever was done to one of its files', () => {
    let refused = 0;
    for (let kill = 0; kill < roundsOf({ push: 3, all: 20 }); kill += 1) {
      for (const name of ['live', 'killed'])
        rmSync(inFolder(name), { recursive: true, force: true });
      const states = new Set(written(20 + random.int(40)));
      for (let wound = 0; wound < 60; wound += 1) {
        const base = random.pick(['killed', 'live']);
        cpSync(inFolder(base), inFolder('wounded'), { recursive: true });
        const files = ['some.db', 'some.db-wal', 'some.db-crc']
          .map((name) => inFolder('wounded', name))
          .filter((file) => existsSync(file) && statSync(file).size > 0);
        const file = random.pick(files);
        const way = random.pick(Object.keys(ways));
        ways[way]!(file);
        const context = `${file} ${way}, ${base}`;
        try {
          const database = opened('wounded');
          expect(states.has(rowsOf(database)), context).toBe(true);
          database.close();
        } catch (error) {
          if (error instanceof Error && error.name === 'AssertionError') throw error;
          refused += 1;
        }
        rmSync(inFolder('wounded'), { recursive: true });
      }
    }
    expect(refused).toBeGreaterThan(0);
  });

  it('takes a file of an earlier release, and compares it from then on', () => {
    const states = written(30);
    rmSync(inFolder('live', 'some.db-crc'));
    const first = opened('live');
    expect([rowsOf(first), first.wasCompared]).toEqual([states.at(-1), false]);
    first.close();
    const bytes = readFileSync(inFolder('live', 'some.db'));
    bytes[bytes.length - 100] = bytes[bytes.length - 100]! ^ 1;
    writeFileSync(inFolder('live', 'some.db'), bytes);
    expect(() => opened('live')).toThrow(/page \d+ is not what was written/);
  });
});
