import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { dayMs, type Clock } from '#kernel/time.ts';
import { headsTopic, recordsTopic } from '#modules/records/model/events.ts';
import {
  anOrigin,
  aStream,
  openRecordsWorld,
  type OwnerOptions,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const stream = aStream();
/** How far the clock of the world is ahead. */
let aheadMs = 0;
const clock: Clock = {
  now: () => Date.now() + aheadMs,
  nowMicros: () => (Date.now() + aheadMs) * 1000,
};
let world: RecordsWorld;
beforeEach(async () => {
  aheadMs = 0;
  world = await openRecordsWorld({ partitions: 1, clock });
});
afterEach(() => world[Symbol.asyncDispose]());

const folder = (name: string): string => join(world.folder, name);
const copies = (of = world, everyMs = 365 * dayMs) => ({
  directory: join(of.folder, 'copies'),
  everyMs,
});
const save = async (runId: string, version: number, by = world) => {
  const origin = anOrigin({ runId });
  const contacts = Array.from({ length: 50 }, (_, i) => ({ id: `c${i}`, v: version }));
  await by.writer.save(stream, origin, contacts);
  return (await by.writer.barrier(stream, origin)).counts;
};

/** The snapshots that are finished. */
async function snapshots(of = world): Promise<string[]> {
  await mkdir(copies(of).directory, { recursive: true });
  const names = await readdir(copies(of).directory, { recursive: true });
  const found = names.filter((name) => name.endsWith('.db'));
  return found.map((name) => join(copies(of).directory, name));
}

/** A node that has saved twice, with a snapshot of the time between. */
async function withSnapshot(of = world): Promise<string> {
  const first = await of.startOwners({
    folder: join(of.folder, 'a'),
    copies: copies(of),
    tickMs: 1,
  });
  await save('r1', 1, of);
  while ((await snapshots(of)).length === 0) await wait(5);
  await save('r2', 2, of);
  await first[Symbol.asyncDispose]();
  return (await snapshots(of))[0]!;
}

/** When the store in the folder was last at the end of the log, as it says. */
function atEndOf(directory: string): number {
  const file = join(directory, 'records-0.db');
  using db = new DatabaseSync(file, { readOnly: true });
  return Number(db.prepare('SELECT at_end_at FROM progress').get()?.['at_end_at']);
}

/** Changes that a process reads until it decides; then it has the same state as any other. */
async function readBy(more: OwnerOptions): Promise<number> {
  const client = world.log.client();
  const read = client.read.bind(client);
  let changes = 0;
  client.read = async function* (from) {
    for await (const batch of read(from)) {
      if (from.topic === recordsTopic) changes += batch.messages.length;
      yield batch;
    }
  };
  await using owners = await world.startOwners({ ...more, client });
  await owners.untilDeciding();
  const untilDeciding = changes;
  expect(await save('last', 9)).toMatchObject({ added: 0, updated: 50 });
  expect(await save('again', 9)).toMatchObject({ unchanged: 50 });
  return untilDeciding;
}

describe('a snapshot of a state store', () => {
  it('is where a node without the store begins: only the rest is read from the log', async () => {
    await withSnapshot();
    expect(await readBy({ folder: folder('b'), copies: copies() })).toBe(50);
  });

  it('is not needed', async () => {
    await withSnapshot();
    expect(await readBy({ folder: folder('b') })).toBe(100);
  });

  it('is refused when a single bit is another one, and rebuilt', async () => {
    const file = await withSnapshot();
    const bytes = await readFile(file);
    bytes[bytes.length - 100]! ^= 1;
    await writeFile(file, bytes);
    expect(await readBy({ folder: folder('b'), copies: copies(), tickMs: 1 })).toBe(100);
    await using _ = await world.startOwners({ folder: folder('b'), copies: copies(), tickMs: 1 });
    while ((await snapshots()).length === 0) await wait(5);
    expect((await readFile((await snapshots())[0]!)).equals(bytes)).toBe(false);
  });

  it('is refused when it is of another log', async () => {
    const own = await withSnapshot();
    await using foreign = await openRecordsWorld({ partitions: 1, clock });
    const file = await withSnapshot(foreign);
    await copyFile(file, join(own, '..', file.split('/').at(-1)!));
    expect(await readBy({ folder: folder('b'), copies: copies() })).toBe(100);
  });

  it('is evidence of a loss when it has more than the log: its partition waits, and says what is missing', async () => {
    const file = await withSnapshot();
    for (const topic of [recordsTopic, headsTopic]) {
      const partition = world.log.partition(topic, 0);
      partition.messages = partition.messages.slice(0, 1);
      partition.end = partition.messages[0]!.offset + 1;
    }
    const { promise: reported, resolve } = Promise.withResolvers<string | null>();
    await using _ = await world.startOwners({
      folder: folder('b'),
      copies: copies(),
      onLogIncomplete: (_partition, message) => resolve(message),
    });
    expect(await reported).toMatch(/^The event log lacks \d+ acknowledged messages/);
    expect(await snapshots()).toContain(file);
  });

  it('replaces the one before when that is a day old', async () => {
    await using _ = await world.startOwners({ copies: copies(world, dayMs), tickMs: 1 });
    await save('r1', 1);
    while ((await snapshots()).length === 0) await wait(5);
    const [before] = await snapshots();
    await save('r2', 2);
    aheadMs = 1.5 * dayMs;
    while ((await snapshots()).includes(before!)) await wait(5);
    expect(await snapshots()).toHaveLength(1);
  });
});

describe('a state store', () => {
  it('whose owner had nothing to do for days is still of use', async () => {
    const first = await world.startOwners({ folder: folder('a'), tickMs: 1 });
    await save('r1', 1);
    for (const days of [2, 4]) {
      aheadMs = days * dayMs;
      while (atEndOf(folder('a')) < clock.now() - dayMs) await wait(5);
    }
    await first[Symbol.asyncDispose]();
    expect(await readBy({ folder: folder('a') })).toBe(0);
  });
});
