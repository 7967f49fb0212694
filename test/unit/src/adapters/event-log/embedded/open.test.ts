import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import {
  openEmbeddedLog,
  type EmbeddedLog,
  type EmbeddedLogOptions,
} from '#adapters/event-log/embedded/open.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import {
  Follower,
  HoldingMember,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
  readAll,
} from '#test/support/worlds/log.ts';

interface Opened extends AsyncDisposable {
  readonly embedded: EmbeddedLog;
  readonly log: EmbeddedLog['log'];
  readonly directory: string;
}

async function openOne(options: Partial<EmbeddedLogOptions> = {}): Promise<Opened> {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryFolder());
  const embedded = stack.use(await openEmbeddedLog({ directory, ...options }));
  await embedded.log.ensureTopics([keptTopic('t', 4)]);
  const opened = stack.move();
  return {
    ...{ embedded, log: embedded.log, directory },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const random = (bytes: number) => ({
  key: 'big',
  value: randomBytes(bytes),
  headers: {},
});

/** Holds the write lock of the database, as nobody should. */
function lockOut(directory: string): Disposable {
  const db = new DatabaseSync(join(directory, 'log.sqlite'));
  db.exec('BEGIN IMMEDIATE');
  return { [Symbol.dispose]: () => db.close() };
}

describe('the write-ahead log', () => {
  const mebibyte = 1024 ** 2;

  it('is moved into the tables beside the commits, and starts empty', async () => {
    await using opened = await openOne();
    const { log, directory } = opened;
    const value = random(mebibyte);
    const written = 80;
    for (let n = 0; n < written; n++) await log.append([placed('t', 0, value)]);
    const { size } = statSync(join(directory, 'log.sqlite-wal'));
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThan(60 * mebibyte);
    expect(await log.endOffset('t', 0)).toBe(written);
    const last = await readAll(log, 't', 0, written - 1);
    expect(last.map(({ value: read }) => value.value.equals(read ?? new Uint8Array()))).toEqual([
      true,
    ]);
  });
});

describe('requests that are committed together', () => {
  it('fail alone: those of an unknown topic and of a fenced writer', async () => {
    await using opened = await openOne();
    const { log } = opened;
    const former = await log.openWriter('w');
    await log.openWriter('w');
    const results = await Promise.allSettled([
      log.append([placed('t', 0, message('a'))]),
      log.append([placed('t', 0, message('x')), placed('missing', 0, message('x'))]),
      former.commit([placed('t', 0, message('x'))]),
      log.append([placed('t', 4, message('x'))]),
      log.append([placed('t', 0, message('b'))]),
    ]);
    expect(results.map(({ status }) => status)).toEqual([
      ...['fulfilled', 'rejected', 'rejected', 'rejected', 'fulfilled'],
    ]);
    expect(await keysOf(log, 't')).toEqual(['a', 'b']);
  });

  it('fail alone for want of space: what is small enough is written', async () => {
    await using opened = await openOne({ maxPages: 64 });
    const { log } = opened;
    const results = await Promise.allSettled([
      log.append([placed('t', 0, message('a'))]),
      log.append([placed('t', 1, random(900_000))]),
      log.append([placed('t', 0, message('b'))]),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'log_full' } });
    expect(await keysOf(log, 't')).toEqual(['a', 'b']);
    expect(await keysOf(log, 't', 1)).toEqual([]);
  });
});

describe('a log whose disk is full', () => {
  it('refuses appends and commits whole, goes on reading, and writes again when there is room', async () => {
    await using opened = await openOne({ maxPages: 256 });
    const { log, embedded } = opened;
    const writer = await log.openWriter('w');
    let written = 0;
    const fill = async (): Promise<void> => {
      for (;;) {
        await log.append([placed('t', 0, random(50_000))]);
        written++;
      }
    };
    await expect(fill()).rejects.toMatchObject({ code: 'log_full' });
    const commit = writer.commit([placed('t', 1, message('x')), placed('t', 2, random(200_000))], {
      group: 'g',
      positions: [position('t', 0, 1)],
    });
    await expect(commit).rejects.toMatchObject({ code: 'log_full' });
    expect(await readAll(log, 't')).toHaveLength(written);
    expect(await readAll(log, 't', 1)).toEqual([]);
    expect([...(await log.committed('g', 't'))]).toEqual([]);

    await log.deleteBefore(position('t', 0, written - 1));
    await embedded.maintenance.clean();
    const [place] = await log.append([placed('t', 0, random(50_000))]);
    expect(place).toEqual(position('t', 0, written));
    await writer.commit([placed('t', 1, message('y'))]);
    expect(await keysOf(log, 't', 1)).toEqual(['y']);
  });
});

describe('a log that does not answer', () => {
  it('fails with log_unavailable after the time given', async () => {
    await using opened = await openOne();
    const { log } = opened;
    using _ = lockOut(opened.directory);
    const append = log.append([placed('t', 0, message('a'))], { timeoutMs: 50 });
    await expect(append).rejects.toMatchObject({ code: 'log_unavailable' });
  });

  it('fails what is asked of it after it was closed, and ends those that wait', async () => {
    await using opened = await openOne();
    const { log, embedded } = opened;
    const follower = new Follower(log, [position('t')]);
    await log.append([placed('t', 0, message('a'))]);
    await follower.until(({ keys }) => keys.length === 1);
    const member = new HoldingMember();
    await log.join('g', ['t'], member);
    await HoldingMember.until(() => member.held.size === 4);
    await embedded[Symbol.asyncDispose]();
    const gone = { code: 'log_unavailable' };
    await expect(follower.until(() => false)).rejects.toMatchObject(gone);
    await expect(log.append([placed('t', 0, message('b'))])).rejects.toMatchObject(gone);
    await expect(log.endOffset('t', 0)).rejects.toMatchObject(gone);
    expect(member.held.size).toBe(0);
  });
});

describe('a message that cannot be encoded', () => {
  it('fails its own call only', async () => {
    await using opened = await openOne();
    const { log } = opened;
    const wrong = { ...message('x'), headers: { a: 7 as unknown as string } };
    await expect(log.append([placed('t', 0, message('a'), wrong, wrong)])).rejects.toThrow();
    await log.append([placed('t', 0, message('b'))]);
    expect(await keysOf(log, 't')).toEqual(['b']);
  });
});

describe('a directory', () => {
  it('of a later format is refused', async () => {
    await using opened = await openOne();
    const { directory, embedded } = opened;
    await embedded[Symbol.asyncDispose]();
    const db = new DatabaseSync(join(directory, 'log.sqlite'));
    db.exec('PRAGMA user_version = 5');
    db.close();
    const refused = openEmbeddedLog({ directory });
    await expect(refused).rejects.toMatchObject({
      name: 'CannotStart',
      message: expect.stringContaining('has format 5') as string,
    });
  });

  it('is of one log at a time, and free when it is closed', async () => {
    await using opened = await openOne();
    const { directory, embedded } = opened;
    await expect(openEmbeddedLog({ directory })).rejects.toMatchObject({ code: 'conflict' });
    await embedded[Symbol.asyncDispose]();
    await using again = await openEmbeddedLog({ directory });
    expect(await again.log.partitions('t')).toBe(4);
  });
});

/** Runs SQL on the file of a closed log. */
function changeFile(directory: string, sql: string): void {
  const db = new DatabaseSync(join(directory, 'log.sqlite'));
  db.exec(sql);
  db.close();
}

/** A log with something in each table, closed. */
async function filledLog(): Promise<Opened> {
  const opened = await openOne();
  const { log, embedded } = opened;
  const writer = await log.openWriter('w');
  await writer.commit([placed('t', 1, message('a'), message('b'))], {
    group: 'g',
    positions: [position('t', 1, 1)],
  });
  await embedded[Symbol.asyncDispose]();
  return opened;
}

const smallTables = ['topics', 'partitions', 'writers', 'group_positions'];

describe('the tables beside the rows', () => {
  it.each([
    ['topics', "name = 'u'"],
    ['topics', "cleanup = 'no JSON'"],
    ['partitions', 'next = 1 WHERE next = 2'],
    ['partitions', 'peak = peak + 1'],
    ['writers', 'epoch = 9'],
    ['writers', 'epoch = 9223372036854775807'],
    ['group_positions', 'position = 2'],
    ['group_positions', "name = 'h'"],
  ])('are damaged where a value is another one: %s, %s', async (table, change) => {
    await using opened = await filledLog();
    const { directory } = opened;
    changeFile(directory, `UPDATE ${table} SET ${change}`);
    await expect(openEmbeddedLog({ directory })).rejects.toMatchObject({
      code: 'log_corrupt',
      message: `The event log is corrupt: a row of its table ${table}.`,
    });
  });

  it('of a log of an earlier release are taken as they are, and checked from then on', async () => {
    await using opened = await filledLog();
    const { directory } = opened;
    const former = smallTables.map((table) => `ALTER TABLE ${table} DROP COLUMN crc;`).join('');
    changeFile(directory, `${former} PRAGMA user_version = 3`);
    {
      await using again = await openEmbeddedLog({ directory });
      expect(await keysOf(again.log, 't', 1)).toEqual(['a', 'b']);
      expect([...(await again.log.committed('g', 't'))]).toEqual([[1, 1]]);
    }
    changeFile(directory, 'UPDATE writers SET epoch = 9');
    await expect(openEmbeddedLog({ directory })).rejects.toThrow('its table writers');
  });
});

describe('damage', () => {
  it('is reported with its place and never skipped', async () => {
    await using opened = await openOne();
    const { log, directory } = opened;
    for (const key of ['a', 'b', 'c']) await log.append([placed('t', 2, message(key))]);
    const db = new DatabaseSync(join(directory, 'log.sqlite'));
    db.exec(`UPDATE batches SET body = zeroblob(length(body)) WHERE base = 1`);
    db.close();
    expect(await readFirst(log)).toEqual(['a']);
    const reading = keysOf(log, 't', 2);
    await expect(reading).rejects.toMatchObject({
      code: 'log_corrupt',
      message: expect.stringContaining('t/2, the batch at offset 1') as string,
    });
    expect(await keysOf(log, 't', 2, 2)).toEqual(['c']);
    await using follower = new Follower(log, [position('t', 2)]);
    await expect(follower.until(() => false)).rejects.toMatchObject({ code: 'log_corrupt' });
  });
});

async function readFirst(log: EmbeddedLog['log']): Promise<string[]> {
  for await (const batch of log.read(position('t', 2), { maxBytes: 1 })) {
    return batch.messages.map(({ key }) => key);
  }
  return [];
}

describe('other threads', () => {
  const thread = new URL('../../../../../support/processes/log-member-thread.ts', import.meta.url);

  it('have the same log, and give up their partitions when they end', async () => {
    await using opened = await openOne();
    const { log, embedded, directory } = opened;
    const member = new HoldingMember();
    await using _ = await log.join('g', ['t'], member);
    await using follower = new Follower(log, [position('t')]);
    const port = embedded.connectPort();
    const worker = new Worker(thread, { workerData: { directory, port }, transferList: [port] });
    await follower.until(({ keys }) => keys.includes('from the thread'));
    await HoldingMember.until(() => member.held.size === 2);
    await worker.terminate();
    await HoldingMember.until(() => member.held.size === 4);
  });
});
