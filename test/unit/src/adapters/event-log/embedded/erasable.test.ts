import { randomBytes } from 'node:crypto';
import { copyFile, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { openEmbeddedLog, type EmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { crcAtPlace, isIntact, type StoredRow } from '#adapters/event-log/embedded/row-format.ts';
import { RowKeyReader } from '#adapters/event-log/embedded/row-keys.ts';
import { openRow, slotOf } from '#adapters/event-log/embedded/sealed-row.ts';
import type { TopicSpec } from '#ports/event-log.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { filesWith, rowKeysOf, slotsOf } from '#test/support/judges/stored-bytes.ts';
import { startChild } from '#test/support/processes/child.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keptTopic, message, placed, readAll, textOf } from '#test/support/worlds/log.ts';

const plain = { policy: 'compact', minLagMs: 0, maxLagMs: 60_000, tombstoneMs: 60_000 } as const;
const erasable: TopicSpec = { name: 't', partitions: 1, cleanup: { ...plain, isErasable: true } };

async function openOne(directory: string): Promise<EmbeddedLog> {
  const options = { directory, cleanEveryMs: 10 ** 9, erasable: [erasable] };
  const embedded = await openEmbeddedLog(options);
  await embedded.log.ensureTopics([erasable, keptTopic('beside')]);
  return embedded;
}

const secret = () => ({ text: randomBytes(40).toString('hex') });

async function textsOf({ log }: EmbeddedLog): Promise<Record<string, string | null>> {
  const read = await readAll(log, 't');
  return Object.fromEntries(read.map((one) => [one.key, textOf(one)]));
}

const append = ({ log }: EmbeddedLog, ...pairs: (readonly [string, string | null])[]) =>
  log.append([placed('t', 0, ...pairs.map(([key, value]) => message(key, value)))]);

describe('a value of an erasable topic', () => {
  it('stands sealed in the files, and is read as it was written', async () => {
    await using folder = await temporaryFolder();
    await using embedded = await openOne(folder.path);
    const { text } = secret();
    await append(embedded, ['a', text], ['b', 'b']);
    expect(await textsOf(embedded)).toEqual({ a: text, b: 'b' });
    expect(await filesWith(folder.path, Buffer.from(text))).toEqual([]);
    const [key] = rowKeysOf(folder.path).values();
    expect(await filesWith(folder.path, key!)).toEqual(['row-keys']);
  });

  it.each([
    ['a tombstone', null],
    ['another value', 'other'],
  ])('is destroyed by %s when that is appended', async (_, value) => {
    await using folder = await temporaryFolder();
    await using embedded = await openOne(folder.path);
    await append(embedded, ['a', 'first'], ['b', 'second']);
    await append(embedded, ['c', 'third']);
    const key = rowKeysOf(folder.path).get('a')!;
    await append(embedded, ['a', value]);
    expect(await filesWith(folder.path, key)).toEqual([]);
    expect(await textsOf(embedded)).toEqual({ b: 'second', c: 'third', a: value });
  });

  it('that its own batch supersedes is destroyed with it', async () => {
    await using folder = await temporaryFolder();
    await using embedded = await openOne(folder.path);
    await append(embedded, ['a', 'first'], ['b', 'b'], ['a', null]);
    expect(await textsOf(embedded)).toEqual({ b: 'b', a: null });
  });

  it('is followed on while others are destroyed, by a reader that is behind', async () => {
    await using folder = await temporaryFolder();
    await using embedded = await openOne(folder.path);
    for (let n = 0; n < 200; n++) await append(embedded, [`k${n}`, `v${n}`]);
    const reading = textsOf(embedded);
    for (let n = 0; n < 100; n++) await append(embedded, [`k${n}`, null]);
    await reading;
    const left = await textsOf(embedded);
    for (let n = 0; n < 200; n++) expect(left[`k${n}`]).toBe(n < 100 ? null : `v${n}`);
  });

  it('stays as it is through compaction and a restart', async () => {
    await using folder = await temporaryFolder();
    {
      await using embedded = await openOne(folder.path);
      for (let n = 0; n < 20; n++) await append(embedded, [`k${n}`, `v${n}`], [`l${n}`, `w${n}`]);
      for (let n = 0; n < 20; n += 2) await append(embedded, [`k${n}`, null]);
      await embedded.maintenance.clean({ now: Date.now() + 70_000 });
      await embedded.maintenance.clean({ now: Date.now() + 200_000 });
    }
    await using embedded = await openOne(folder.path);
    const left = await textsOf(embedded);
    const kept = Array.from({ length: 20 }, (_, n) => [
      ...(n % 2 === 0 ? [] : [[`k${n}`, `v${n}`]]),
      [`l${n}`, `w${n}`],
    ]).flat();
    expect(left).toEqual(Object.fromEntries(kept));
  });
});

describe('a crash', () => {
  it('between the commit and the destruction of the key is made up for at the next opening', async () => {
    await using folder = await temporaryFolder();
    let key: Buffer | null = null;
    {
      await using embedded = await openOne(folder.path);
      await append(embedded, ['a', 'first'], ['b', 'b']);
      key = rowKeysOf(folder.path).get('a')!;
      await append(embedded, ['a', null]);
    }
    const file = await open(join(folder.path, 'row-keys'), 'r+');
    await file.write(key, 0, key.length, 0);
    await file.close();
    expect(await filesWith(folder.path, key)).toEqual(['row-keys']);
    await using embedded = await openOne(folder.path);
    expect(await filesWith(folder.path, key)).toEqual([]);
    expect(await textsOf(embedded)).toEqual({ b: 'b', a: null });
  });

  it('at any time loses no value, and leaves no key of one that is gone', async () => {
    const random = seeded(seedOfRun());
    const why = `SVC_TEST_SEED=${random.seed}`;
    for (let round = 0; round < 4; round++) {
      await using folder = await temporaryFolder();
      const lines = 20 + random.int(150);
      const child = startChild('erasing-child.ts', [folder.path, random.seed + round]);
      const told: { readonly key: string; readonly value: string | null }[] = [];
      for await (const line of child.lines) {
        told.push(line as (typeof told)[number]);
        if (told.length === lines) child.process.kill('SIGKILL');
      }
      expect(told.length, child.errors.join('\n')).toBeGreaterThanOrEqual(lines);
      const atTheCrash = slotsOf(folder.path);
      await using embedded = await openOne(folder.path);
      const needed = new Set(
        [...rowKeysOf(folder.path).values()].map((key) => key.toString('hex')),
      );
      const kept = slotsOf(folder.path).filter((slot) => atTheCrash.includes(slot));
      expect(new Set(kept), why).toEqual(needed);
      const left = await textsOf(embedded);
      const last = new Map(told.map(({ key, value }) => [key, value]));
      const known = [...last].filter(([key, value]) => left[key] !== value);
      // The one that was under way may have come.
      expect(known.length, why).toBeLessThanOrEqual(1);
    }
  });

  it('that lost a key of a row is named when the log is opened', async () => {
    await using folder = await temporaryFolder();
    {
      await using embedded = await openOne(folder.path);
      await append(embedded, ['a', 'first']);
    }
    await rm(join(folder.path, 'row-keys'));
    await expect(openOne(folder.path)).rejects.toThrow(/file row-keys lacks key 0.+restore/);
  });
});

/** As the release before erasable topics has left the folder. */
function asBefore(directory: string): void {
  const db = new DatabaseSync(join(directory, 'log.sqlite'));
  const keys = new RowKeyReader(directory);
  const update = db.prepare('UPDATE batches SET codec = ?, crc = ?, body = ? WHERE id = ?');
  for (const found of db.prepare('SELECT * FROM batches WHERE codec & 4').all()) {
    const row = found as unknown as StoredRow & { id: number; partition: number };
    expect(isIntact(row, row.partition)).toBe(true);
    const { codec, body, directory: names } = openRow(row, row, keys.read(slotOf(row.body)))!;
    const crc = crcAtPlace(crc32(body, crc32(names)), row.partition, row.base, row.next);
    update.run(codec, crc, body, row.id);
  }
  db.prepare('UPDATE topics SET cleanup = ? WHERE name = ?').run(JSON.stringify(plain), 't');
  db.exec('PRAGMA user_version = 1');
  db.close();
  keys.close();
}

describe('a log of a release before', () => {
  it('opens, and a value that was written then is destroyed as well', async () => {
    await using folder = await temporaryFolder();
    const { text } = secret();
    {
      await using embedded = await openOne(folder.path);
      await append(embedded, ['a', text]);
      await append(embedded, ['b', 'b']);
      await embedded.log.append([placed('beside', 0, message('x'))]);
    }
    asBefore(folder.path);
    await rm(join(folder.path, 'row-keys'));
    expect(await filesWith(folder.path, Buffer.from(text))).not.toEqual([]);
    await using embedded = await openOne(folder.path);
    expect(await filesWith(folder.path, Buffer.from(text))).toEqual([]);
    expect(await textsOf(embedded)).toEqual({ a: text, b: 'b' });
    expect(await readAll(embedded.log, 'beside')).toHaveLength(1);
    const key = rowKeysOf(folder.path).get('a')!;
    await append(embedded, ['a', null]);
    expect(await filesWith(folder.path, key)).toEqual([]);
    expect(await textsOf(embedded)).toEqual({ b: 'b', a: null });
  });

  it('keeps no remnant of a value in the pages of its file, wherever it was moved', async () => {
    const random = seeded(seedOfRun());
    await using folder = await temporaryFolder();
    const texts = Array.from({ length: 300 }, () => secret().text);
    {
      await using embedded = await openOne(folder.path);
      for (const [n, text] of texts.entries()) await append(embedded, [`k${n}`, text]);
    }
    asBefore(folder.path);
    // What SQLite leaves behind when it moves a row.
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    db.exec('PRAGMA secure_delete = OFF; CREATE TABLE moved (id INTEGER PRIMARY KEY, text TEXT)');
    for (const text of texts) db.prepare('INSERT INTO moved (text) VALUES (?)').run(text);
    db.exec('DELETE FROM moved; DROP TABLE moved');
    db.close();
    await using _ = await openOne(folder.path);
    for (const text of texts.filter(() => random.int(5) === 0)) {
      expect(await filesWith(folder.path, Buffer.from(text))).toEqual([]);
    }
  });

  it('that was interrupted while it was brought up to this one goes on', async () => {
    await using folder = await temporaryFolder();
    {
      await using embedded = await openOne(folder.path);
      await append(embedded, ['a', 'first']);
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    db.exec('PRAGMA user_version = 2');
    db.close();
    await copyFile(join(folder.path, 'log.sqlite'), join(folder.path, 'log.sqlite.copy'));
    await using embedded = await openOne(folder.path);
    expect(await textsOf(embedded)).toEqual({ a: 'first' });
    expect(await filesWith(folder.path, rowKeysOf(folder.path).get('a')!)).toEqual(['row-keys']);
  });
});
