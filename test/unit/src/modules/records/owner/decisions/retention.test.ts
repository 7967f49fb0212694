import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { partitionOf } from '#kernel/partition.ts';
import { dayMs } from '#kernel/time.ts';
import { recordsTopic, reservedKey } from '#modules/records/model/events.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import type { WriteOrigin } from '#modules/records/write/writer.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import {
  anOrigin,
  aStream,
  contacts,
  openRecordsWorld,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const stream = aStream();
const origin = anOrigin();
const partition = partitionOf(streamKey(stream), 2);

async function openWorld(options: { readonly partitions?: number } = {}) {
  const clock = movedClock();
  const world = await openRecordsWorld({ clock, ...options });
  const actions = async () =>
    (await world.changes())
      .filter(({ connection_uid: uid }) => uid === stream.connectionUid)
      .map(({ action, record_id: id }) => `${action} ${id}`);
  return {
    ...world,
    clock,
    actions,
    /** The environment goes on: another connection saves at the present time. */
    async elsewhere() {
      const other = aStream({ connectionUid: 'connection-2', connectionId: 'customer-2' });
      const run = anOrigin({ runId: `other-${clock.now()}` });
      await world.writer.save(other, run, [{ id: 'x', at: clock.now() }]);
      await world.writer.barrier(other, run);
    },
    async until(wanted: () => Promise<boolean>) {
      while (!(await wanted())) await delay(5);
    },
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

/** A client of the log and a logger for owners, and when they have asked often enough what time the log has. */
function watched({ log }: Pick<RecordsWorld, 'log'>) {
  const said: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line) => void said.push(line) });
  const { promise: looked, resolve } = Promise.withResolvers<undefined>();
  const client = log.client();
  const offsetAt = client.offsetAt.bind(client);
  let looks = 0;
  Object.assign(client, {
    offsetAt: async (...place: Parameters<typeof offsetAt>) => {
      const found = await offsetAt(...place);
      if (++looks === 8) resolve(undefined);
      return found;
    },
  });
  return { client, logger, looked, said };
}

describe('retention', () => {
  it('prunes what was not updated for 30 days, and a dry run says what would go next', async () => {
    await using world = await openWorld();
    const { writer, clock } = world;
    await using _owners = await world.startOwners({ tickMs: 5 });
    const on = async (days: number, work: (run: WriteOrigin) => Promise<void>) => {
      clock.forward(days * dayMs);
      const run = anOrigin({ runId: `run-${clock.now()}` });
      await work(run);
      await writer.barrier(stream, run);
    };
    await on(0, async (run) => {
      await writer.save(stream, run, contacts(3));
      await writer.delete(stream, run, [{ id: 'c1' }]);
    });
    await on(19.5, (run) => writer.save(stream, run, contacts(1, 3)));
    await on(0.5, (run) => writer.save(stream, run, [{ id: 'c2', v: 2 }]));
    clock.forward(11 * dayMs);
    await world.elsewhere();
    await world.until(async () => (await world.actions()).length === 8);
    expect((await world.actions()).slice(6)).toEqual(['pruned c0', 'pruned c1']);
    // The 50th day begins after the day's sweep.
    clock.forward(18.6 * dayMs);
    await world.elsewhere();
    await world.until(async () => (await world.actions()).length === 9);
    clock.forward(0.5 * dayMs);
    expect(await writer.previewRetention(stream.environmentUid)).toEqual({
      isClockTrusted: true,
      prune: { records: 1, streams: 1 },
      delete: { records: 0, streams: 0 },
      streams: [expect.objectContaining({ action: 'prune', records: 1, model: 'Contact' })],
    });
    expect((await world.actions()).slice(8)).toEqual(['pruned c3']);
    const found = await writer.lookup(stream, anOrigin({ runId: 'last' }), ['c0', 'c2']);
    expect(found.map(({ payload }) => payload)).toEqual([{ id: 'c0' }, { id: 'c2', v: 2 }]);
  });

  it('deletes for good where no run asked for 60 days, slice by slice, and the stream counts on', async () => {
    await using world = await openWorld();
    const { writer, clock, log } = world;
    await writer.save(stream, origin, contacts(4500));
    await using _owners = await world.startOwners({ tickMs: 5 });
    await writer.barrier(stream, origin);
    clock.forward(61 * dayMs);
    await world.elsewhere();
    await world.until(async () => (await world.actions()).length === 9000);
    const purged = (await world.actions()).slice(4500);
    expect(purged.every((action) => action.startsWith('purged '))).toBe(true);
    const tombstones = log
      .partition(recordsTopic, partition)
      .messages.filter(({ key, value }) => value === null && key !== reservedKey);
    expect(tombstones).toHaveLength(4500);
    const next = anOrigin({ runId: 'run-2' });
    await writer.save(stream, next, [{ id: 'c1' }]);
    await writer.barrier(stream, next);
    const last = (await world.changes()).findLast(({ record_id: id }) => id === 'c1');
    expect([last?.action, last?.stream_seq]).toEqual(['added', 9001]);
  });

  it('keeps records as long as the environment says, in however many streams', async () => {
    await using world = await openWorld();
    const { writer, clock } = world;
    const retentionOf = () => ({ pruneAfterDays: 100, deleteAfterDays: 5 });
    await using _owners = await world.startOwners({ tickMs: 5, retentionOf });
    const streams = Array.from({ length: 450 }, (_, n) => aStream({ model: `M${n}` }));
    await Promise.all(streams.map((one) => writer.save(one, origin, [{ id: one.model }])));
    await Promise.all(streams.map((one) => writer.barrier(one, origin)));
    clock.forward(3 * dayMs);
    const later = anOrigin({ runId: 'run-2' });
    await writer.barrier(streams[7]!, later);
    clock.forward(3 * dayMs);
    await world.elsewhere();
    await world.until(async () => (await world.actions()).length === 899);
    const purged = new Set((await world.actions()).slice(450));
    expect(purged.size).toBe(449);
    expect(purged.has('purged M7')).toBe(false);
    expect((await writer.previewRetention(stream.environmentUid)).streams).toEqual([]);
  });

  it('has nothing to say of a partition without records', async () => {
    await using world = await openWorld({ partitions: 1 });
    const { looked, said, ...ports } = watched(world);
    await using _owners = await world.startOwners({ tickMs: 5, ...ports });
    await looked;
    expect(said.filter((line) => line.includes('retention'))).toEqual([]);
  });

  it('stands still while the clock is over a day ahead of the log', async () => {
    await using world = await openWorld({ partitions: 1 });
    const { writer, clock } = world;
    await writer.save(stream, origin, contacts(2));
    {
      await using owners = await world.startOwners({ tickMs: 5 });
      await writer.barrier(stream, origin);
      await owners.untilDeciding();
    }
    clock.forward(31 * dayMs);
    const { looked, said, ...ports } = watched(world);
    await using _owners = await world.startOwners({ tickMs: 5, ...ports });
    await looked;
    expect(said.filter((line) => line.includes('retention waits'))).toHaveLength(1);
    expect(await world.actions()).toEqual(['added c0', 'added c1']);
    await world.elsewhere();
    clock.forward(dayMs);
    await world.elsewhere();
    await world.until(async () => (await world.actions()).length === 4);
  });
});
