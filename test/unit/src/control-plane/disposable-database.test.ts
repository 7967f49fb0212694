import { readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openDisposableDatabase } from '#control-plane/disposable-database.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';

const tables = 'CREATE TABLE things (name TEXT)';
const first = { tables, version: 1 };

/** Opens, reads the names of all things, adds one, closes. */
function visit(file: string, layout: typeof first, name: string): unknown[] {
  const database = openDisposableDatabase(file, layout);
  try {
    const before = database.prepare('SELECT name FROM things').all();
    database.prepare('INSERT INTO things VALUES (?)').run(name);
    return before.map((row) => row['name']);
  } finally {
    database.close();
  }
}

describe('a file derived from the log', () => {
  it('is made with its folder, and kept while its layout stays', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'views', 'a.sqlite');
    expect(visit(file, first, 'one')).toEqual([]);
    expect(visit(file, first, 'two')).toEqual(['one']);
  });

  it('of another layout is rebuilt', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    visit(file, first, 'one');
    expect(visit(file, { ...first, version: 2 }, 'two')).toEqual([]);
    expect(visit(file, { ...first, version: 2 }, 'three')).toEqual(['two']);
  });

  it('that is damaged is thrown away', async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    writeFileSync(file, 'This is no database. '.repeat(1000));
    expect(visit(file, first, 'one')).toEqual([]);
  });

  it('of which a page is damaged, or the end is missing, is thrown away', async () => {
    const random = seeded(seedOfRun());
    console.info(`SVC_TEST_SEED=${random.seed}`);
    await using folder = await temporaryFolder();
    const file = join(folder.path, 'a.sqlite');
    for (const damage of [
      () => truncateSync(file, 1 + random.int(statSync(file).size - 1)),
      () => {
        const bytes = readFileSync(file);
        bytes.fill(random.int(256), 4096, 8192);
        writeFileSync(file, bytes);
      },
    ]) {
      visit(file, first, 'one'.repeat(1000));
      visit(file, first, 'two');
      damage();
      expect(visit(file, first, 'three')).toEqual([]);
    }
  });
});
