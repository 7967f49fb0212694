import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { headsTopic, recordsTopic } from '#modules/records/model/events.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { Client } from '#test/support/fakes/simulated-log.ts';
import {
  anOrigin,
  aStream,
  openRecordsWorld,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const one = aStream();
const other = aStream({ model: 'Company' });
let world: RecordsWorld;
beforeEach(async () => {
  world = await openRecordsWorld({ partitions: 1 });
});
afterEach(() => world[Symbol.asyncDispose]());

const folder = (name: string): string => join(world.folder, name);
const save = async (stream: Stream, runId: string, version: number) => {
  const origin = anOrigin({ runId });
  const contacts = Array.from({ length: 50 }, (_, i) => ({ id: `c${i}`, v: version }));
  await world.writer.save(stream, origin, contacts);
  return (await world.writer.barrier(stream, origin)).counts;
};

/** A process that is notified of each topic before it reads it. */
function reader(before: (topic: string) => Promise<void> | void): Client {
  const client = world.log.client();
  const read = client.read.bind(client);
  client.read = async function* (from) {
    await before(from.topic);
    yield* read(from);
  };
  return client;
}

/** Starts a process with a standby of the partition, which another process then owns. */
async function standBy(client = world.log.client()) {
  const standby = { lookEveryMs: 1 };
  const standing = await world.startOwners({ client, folder: folder('a'), standby });
  await standing.untilDeciding();
  await save(one, 'r1', 1);
  const owner = await world.startOwners({ folder: folder('b') });
  return { standing, owner };
}

async function caughtUp(standing: Awaited<ReturnType<typeof standBy>>['standing']): Promise<void> {
  const since = Date.now();
  while ((standing.owners.standbys().get(0) ?? 0) <= since) await wait(1);
}

describe('a standby', () => {
  it('has nothing left to read when it takes over', async () => {
    const { standing, owner } = await standBy();
    await save(one, 'r2', 2);
    await caughtUp(standing);
    await owner[Symbol.asyncDispose]();
    await standing[Symbol.asyncDispose]();
    let offset = -1;
    const client = world.log.client();
    const read = client.read.bind(client);
    client.read = (from) => {
      if (from.topic === recordsTopic) offset = from.offset;
      return read(from);
    };
    await using next = await world.startOwners({ folder: folder('a'), client });
    await next.untilDeciding();
    const { messages } = world.log.partition(recordsTopic, 0);
    expect(offset).toBeGreaterThan(messages.at(-1)!.offset);
    expect(await save(one, 'r3', 2)).toMatchObject({ unchanged: 50, updated: 0 });
  });

  it('writes nothing to the log, and answers nobody', async () => {
    const client = world.log.client();
    const { standing, owner } = await standBy(client);
    const written: unknown[] = [];
    client.openWriter = (name) => Promise.reject(new Error(`opened ${written.push(name)}`));
    client.append = (batch) => Promise.reject(new Error(`appended ${written.push(batch)}`));
    client.commit = (consumed) => Promise.reject(new Error(`committed ${written.push(consumed)}`));
    await save(one, 'r2', 2);
    await caughtUp(standing);
    expect([...standing.owners.partitions()]).toEqual([]);
    await standing[Symbol.asyncDispose]();
    await owner[Symbol.asyncDispose]();
    expect(written).toEqual([]);
  });

  it('is none of the partitions that are owned here', async () => {
    await using owner = await world.startOwners({
      folder: folder('a'),
      standby: { lookEveryMs: 1 },
    });
    await owner.untilDeciding();
    await save(one, 'r1', 1);
    expect([...owner.owners.standbys()]).toEqual([]);
  });

  it('misses nothing of an owner that another replaced between its reads of the two topics', async () => {
    const seen = new Set<string>();
    const gate = Promise.withResolvers<undefined>();
    const between = Promise.withResolvers<undefined>();
    let isArmed = false;
    const client = reader((topic) => {
      if (!isArmed || (topic !== recordsTopic && topic !== headsTopic)) return;
      seen.add(topic);
      if (seen.size < 2) return;
      between.resolve(undefined);
      return gate.promise.then(() => undefined);
    });
    const standby = { lookEveryMs: 3_600_000 };
    const standing = await world.startOwners({ client, folder: folder('a'), standby });
    await standing.untilDeciding();
    await save(one, 'r1', 1);
    isArmed = true;
    const owner = await world.startOwners({ folder: folder('b') });
    await between.promise;
    await save(one, 'r2', 2);
    const next = await world.startOwners({ folder: folder('c') });
    await save(other, 'r3', 3);
    gate.resolve(undefined);
    while (!standing.owners.standbys().has(0)) await wait(1);
    await Promise.all([next, owner].map((running) => running[Symbol.asyncDispose]()));
    await standing[Symbol.asyncDispose]();
    await using last = await world.startOwners({ folder: folder('a') });
    await last.untilDeciding();
    expect(await save(one, 'r4', 2)).toMatchObject({ unchanged: 50, added: 0, updated: 0 });
    await save(one, 'r5', 4);
    const changes = (await world.changes()).filter(({ model }) => model === one.model);
    const seqs = changes.map(({ stream_seq }) => stream_seq);
    expect(seqs).toEqual(Array.from({ length: 150 }, (_, i) => i + 1));
  });
});
