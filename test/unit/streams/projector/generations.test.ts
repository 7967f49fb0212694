import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { records } from '#modules/records/projection/definition.ts';
import { verificationState } from '#streams/projector/projection-state.ts';
import { holdInserts } from '#test/support/fakes/held-inserts.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { flipEveryBlock } from '#test/support/judges/wounds.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';
import { TestGenerations, TestOwner } from '#test/support/worlds/generations.ts';
import { partitions } from '#test/support/worlds/projection.ts';
import { idsOf, pageOf, question, storeOfFile, walk } from '#test/support/worlds/record-pages.ts';

const store = await storeOfFile();

const rebuild = { type: 'Rebuild', schemaVersion: 1, partitions, pacePercent: 100 } as const;
const verify = { type: 'Verify', id: 'v1' } as const;
const change = { type: 'Switch', isForced: false } as const;

/** Proceeds by itself up to a point, and further on request. */
class ShiftedClock implements Clock {
  shiftMs = 0;
  now(): number {
    return Date.now() + this.shiftMs;
  }
  nowMicros(): number {
    return 1000 * this.now();
  }
}

interface World {
  readonly log: MemoryLog;
  readonly clock: ShiftedClock;
  readonly owner: TestOwner;
  readonly model: RecordModel;
}

function newWorld(): World {
  const clock = new ShiftedClock();
  const log = new MemoryLog(records.topic, partitions);
  return { log, clock, owner: new TestOwner(clock), model: new RecordModel() };
}

const open = ({ log, owner, clock }: World, holds?: (generation: number) => boolean) =>
  TestGenerations.open(store, log, owner, clock, holds);

/** Changes of every kind. */
function story(model: RecordModel, from: number, count: number) {
  const changes = [];
  const ids = Array.from({ length: count }, (_, at) => from + at);
  for (const n of ids) changes.push(model.save(`r${n}`, { n }));
  for (const n of ids) if (n % 2 === 0) changes.push(model.save(`r${n}`, { n, again: true }));
  for (const n of ids) if (n % 5 === 0) changes.push(model.delete(`r${n}`));
  for (const n of ids) if (n % 7 === 0) changes.push(model.prune(`r${n}`));
  for (const n of ids) if (n % 11 === 0) changes.push(model.purge(`r${n}`));
  return changes;
}

const stateOf = async ({ owner }: World, number: number, wanted: string) =>
  eventually(
    () => Promise.resolve(owner.generation(number)),
    (found) => found?.state === wanted,
  );

async function verified({ owner }: World, number: number) {
  const found = await eventually(
    () => Promise.resolve(owner.generation(number)?.verification ?? null),
    (one) => one !== null && verificationState(one, partitions) !== 'running',
  );
  return found!;
}

async function tableNames(): Promise<string[]> {
  const tables = await store.queryRows<{ name: string }>(
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE '%record%' ORDER BY name`,
  );
  return tables.map(({ name }) => name);
}

const firstTables = [
  'record_history',
  'record_history_of_records',
  'record_streams',
  'records',
  'records_by_id',
  'records_by_id_of_records',
  'stream_segments_of_records',
];

describe('a generation built beside the one that is read', () => {
  it('is the same when it has caught up, and is read from where a cursor stood', async () => {
    const world = newWorld();
    const { owner, model } = world;
    await using node = await open(world);
    await node.publish(model, story(model, 0, 60));
    owner.ask(rebuild);
    for (let round = 1; round <= 5; round++)
      await node.publish(model, story(model, round * 60, 20));
    await stateOf(world, 2, 'ready');
    owner.ask(verify);
    await node.publish(model, story(model, 400, 20));
    const found = await verified(world, 2);
    expect(found.failure).toBeNull();
    expect(verificationState(found, partitions)).toBe('passed');
    const before = await walk(node.reader, question(model, { limit: 9 }));
    const first = await pageOf(node.reader, question(model, { limit: 40 }));
    owner.ask(change);
    await node.publish(model, story(model, 500, 20));
    const rest = await walk(node.reader, question(model, { limit: 9, cursor: first.next_cursor }));
    expect(idsOf([...first.records, ...rest])).toEqual(idsOf(model.ordered()));
    expect(rest.slice(0, before.length - 40)).toEqual(before.slice(40));
    expect(await tableNames()).toEqual(
      [
        ...firstTables,
        ...firstTables.map((name) =>
          name.replace(
            /^(record_history|record_streams|records_by_id|records|stream_segments)/,
            '$1_g2',
          ),
        ),
      ].sort(),
    );
  });

  it('ends a stream no earlier than the one that was read before', async () => {
    const world = newWorld();
    const { owner, model, log } = world;
    const first = holdInserts(store, 'records', 'once-readable');
    const second = holdInserts(first.store, 'records_g2');
    await using node = await TestGenerations.open(second.store, log, owner, world.clock);
    using _ = first;
    using __ = second;
    first.pass();
    second.pass();
    await node.publish(model, [model.save('a')]);
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    first.hold();
    second.hold();
    node.append(model, [model.save('b')]);
    await Promise.all([first.inserting, second.inserting]);
    const { records: shown } = await pageOf(node.reader, question(model));
    expect(idsOf(shown)).toEqual(['a', 'b']);
    const switched = new Promise<void>((resolve) => {
      node.generations.source.onDropped((streams) => {
        if (streams === 'all') resolve();
      });
    });
    owner.ask({ type: 'Switch', isForced: true });
    await switched;
    const { cursor } = shown[0]!._svc_metadata;
    const poll = pageOf(node.reader, question(model, { cursor }));
    setTimeout(second.release, 50);
    expect(idsOf((await poll).records)).toEqual(['b']);
  });

  it('is compared by one node, again after an outage, also when another writes its first partition', async () => {
    const world = newWorld();
    const { owner, model } = world;
    await using one = await open(world, (generation) => generation === 1);
    await using another = await open(world, (generation) => generation === 2);
    await one.publish(model, story(model, 0, 30));
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    one.failComparison(new GatewayError('projection_unavailable'));
    owner.ask(verify);
    const found = await verified(world, 2);
    expect([found.failure, verificationState(found, partitions)]).toEqual([null, 'passed']);
    expect([one.comparisons, another.comparisons]).toEqual([2, 0]);
  });

  it('is rolled back to the former one, which was fed meanwhile', async () => {
    const world = newWorld();
    const { owner, model } = world;
    await using node = await open(world);
    await node.publish(model, story(model, 0, 30));
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    owner.ask({ type: 'Switch', isForced: true });
    await node.publish(model, story(model, 30, 30));
    owner.ask({ type: 'RollBack' });
    await node.publish(model, story(model, 60, 30));
    expect(idsOf(await walk(node.reader, question(model, { limit: 11 })))).toEqual(
      idsOf(model.ordered()),
    );
    owner.ask({ type: 'Verify', id: 'back' });
    expect(verificationState(await verified(world, 2), partitions)).toBe('passed');
  });

  it.each([
    ['a record', `DELETE FROM records_g2 WHERE record_id = 'r3'`],
    [
      'a payload',
      `ALTER TABLE records_g2 UPDATE payload = '{}' WHERE record_id = 'r3' SETTINGS mutations_sync = 2`,
    ],
    ['an id', `DELETE FROM records_by_id_g2 WHERE record_id = 'r3'`],
    ['the directory', `DELETE FROM stream_segments_g2 WHERE 1`],
  ])('is found to differ when %s is not the same', async (_what, statement) => {
    const world = newWorld();
    const { owner, model } = world;
    await using node = await open(world);
    await node.publish(model, story(model, 0, 30));
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    await store.command(statement);
    owner.ask(verify);
    const found = await verified(world, 2);
    expect(verificationState(found, partitions)).toBe('differs');
    const part = found.parts[model.partition(partitions)]!;
    expect(part.differences).toBe(1);
    expect(part.examples).toHaveLength(1);
    expect(() => owner.ask(change)).toThrow(expect.objectContaining({ code: 'conflict' }) as Error);
  });

  it('goes on after the node was closed in the middle, and is not fed while paused', async () => {
    const world = newWorld();
    const { owner, model } = world;
    {
      await using node = await open(world);
      await node.publish(model, story(model, 0, 30));
      owner.ask(rebuild);
      await eventually(tableNames, (names) => names.includes('records_g2'));
      owner.ask({ type: 'Pause', generation: 2 });
    }
    await owner[Symbol.asyncDispose]();
    await using node = await open(world);
    await node.publish(model, story(model, 30, 30));
    const [paused] = await store.queryRows<{ found: string }>(
      `SELECT count() AS found FROM records_g2 WHERE record_id = 'r31'`,
    );
    expect(paused?.found).toBe('0');
    owner.ask({ type: 'Resume', generation: 2 });
    await stateOf(world, 2, 'ready');
    owner.ask(verify);
    expect(verificationState(await verified(world, 2), partitions)).toBe('passed');
  });

  it('is built and read although the former one is too damaged to start', async () => {
    const world = newWorld();
    const { owner, model } = world;
    {
      await using node = await open(world);
      await node.publish(model, story(model, 0, 30));
    }
    await owner[Symbol.asyncDispose]();
    const parts = await store.queryRows<{ path: string }>(
      `SELECT path FROM system.parts WHERE active AND table = 'records'`,
    );
    for (const { path } of parts) await flipEveryBlock(join(path, 'data.bin'));
    await using node = await open(world);
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    owner.ask({ type: 'Switch', isForced: true });
    node.append(model, story(model, 30, 10));
    const walked = () => walk(node.reader, question(model, { limit: 11 })).catch(() => []);
    const ids = idsOf(model.ordered());
    expect(idsOf(await eventually(walked, ({ length }) => length === ids.length))).toEqual(ids);
  });

  it('is dropped when nobody can read it any more', async () => {
    const world = newWorld();
    const { owner, model, clock } = world;
    await using node = await open(world);
    await node.publish(model, story(model, 0, 30));
    owner.ask(rebuild);
    await stateOf(world, 2, 'ready');
    owner.ask({ type: 'Switch', isForced: true });
    await node.publish(model, story(model, 30, 10));
    owner.ask({ type: 'Retire', generation: 1 });
    await node.publish(model, story(model, 40, 10));
    expect(await tableNames()).toEqual(expect.arrayContaining(firstTables));
    clock.shiftMs += 60_000;
    await eventually(
      () => Promise.resolve(owner.generation(1)),
      (found) => found === undefined,
    );
    expect((await tableNames()).filter((name) => firstTables.includes(name))).toEqual([]);
    expect(idsOf(await walk(node.reader, question(model, { limit: 11 })))).toEqual(
      idsOf(model.ordered()),
    );
  });
});
