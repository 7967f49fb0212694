import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { deadLettersTopic } from '#control-plane/message-codec.ts';
import { partitionOf } from '#kernel/partition.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import { recordsTopic } from '#modules/records/model/events.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import { deadLetterHeader, type DeadLetterValue } from '#streams/dead-letters/events.ts';
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

/** A clock that stands until it is moved, but for microseconds. */
function handClock(): Clock & { forward(ms: number): void } {
  let micros = Date.UTC(2026, 1, 1) * 1000;
  return {
    now: () => Math.floor(micros / 1000),
    nowMicros: () => ++micros,
    forward: (ms) => void (micros += ms * 1000),
  };
}

const actionsOf = async (world: RecordsWorld) =>
  (await world.changes()).map(
    ({ action, record_id: id, position }) => `${action} ${id} ${position}`,
  );

describe('a run at its end', () => {
  it('hears its counts and the place after everything it led to', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, contacts(3));
    await writer.save(stream, origin, [
      { id: 'c0', v: 1 },
      { id: 'c1', v: 2 },
    ]);
    await writer.delete(stream, origin, [{ id: 'c2' }]);
    const answer = await writer.barrier(stream, origin);
    expect(answer).toMatchObject({
      counts: { added: 3, updated: 1, deleted: 1, unchanged: 1 },
      partition,
      failures: [],
    });
    const offsets = world.log
      .partition(recordsTopic, partition)
      .messages.map(({ offset }) => offset);
    expect(offsets).toHaveLength(5);
    expect(Math.max(...offsets)).toBe(answer.offset - 1);
  });

  it('of which a later attempt has begun is refused, and nothing of it is saved', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, anOrigin({ attempt: 2 }), [{ id: 'new' }]);
    await writer.save(stream, origin, [{ id: 'stale' }]);
    await expect(writer.barrier(stream, origin)).rejects.toMatchObject({ code: 'stale_attempt' });
    expect(await actionsOf(world)).toEqual(['added new 1']);
  });
});

describe('an update that would make a record larger than 1 MB', () => {
  it('is refused for that record and reported at the barrier', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, [{ id: 'a', x: 'x'.repeat(600_000) }, { id: 'b' }]);
    await writer.update(stream, origin, [{ id: 'a', y: 'y'.repeat(600_000) }]);
    await writer.update(stream, origin, [{ id: 'b', y: 1 }]);
    const { counts, failures } = await writer.barrier(stream, origin);
    expect(counts).toMatchObject({ added: 2, updated: 1 });
    expect(failures).toEqual([expect.stringContaining('"a"')]);
  });
});

describe('a command that cannot be decided', () => {
  it('is set aside after five tries, fails its run, and holds nothing back', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer, vault } = world;
    await writer.save(stream, origin, [{ id: 'a', v: 1 }]);
    await writer.barrier(stream, origin);
    const openBytes = vault.openBytes;
    let tries = 0;
    Object.assign(vault, {
      openBytes: () => {
        tries++;
        throw new Error('broken');
      },
    });
    world.payloadMode = 'sealed';
    await writer.update(stream, origin, [{ id: 'a', v: 2 }]);
    world.payloadMode = 'plain';
    await writer.save(stream, origin, [{ id: 'b' }]);
    const { counts, failures } = await writer.barrier(stream, origin);
    Object.assign(vault, { openBytes });
    expect(tries).toBe(5);
    expect(counts).toMatchObject({ added: 2, updated: 0 });
    expect(failures).toEqual([expect.stringContaining('set aside')]);
    expect(world.log.partition(deadLettersTopic, 0).messages).toHaveLength(1);
  });

  it('is decided when it is given again, but not over what a later run has saved', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer, vault } = world;
    await writer.save(stream, origin, [{ id: 'a', v: 1 }]);
    await writer.barrier(stream, origin);
    const openBytes = vault.openBytes;
    Object.assign(vault, { openBytes: () => JSON.parse('{') as never });
    world.payloadMode = 'sealed';
    await writer.update(stream, origin, [{ id: 'a', v: 2 }]);
    await writer.barrier(stream, origin);
    Object.assign(vault, { openBytes });

    const codec = await world.schemas.codec<DeadLetterValue>(deadLettersTopic);
    const deadLetters = () =>
      world.log.partition(deadLettersTopic, 0).messages.map(({ value }) => codec.decode(value!));
    const [letter] = deadLetters();
    const giveAgain = async () => {
      const headers = { [deadLetterHeader]: letter!.event_id };
      const messages = [{ key: streamKey(stream), value: Buffer.from(letter!.value!), headers }];
      await world.log.client().append([{ topic: recordCommandsTopic, partition, messages }]);
      await writer.barrier(stream, origin);
      const { type, letter_id, error_code } = deadLetters().at(-1)!;
      expect(letter_id).toBe(letter!.event_id);
      return `${type} ${error_code}`;
    };
    expect(await giveAgain()).toBe('svc.dead-letter.resolved ');
    expect(await giveAgain()).toBe('svc.dead-letter.resolved ');
    expect(await actionsOf(world)).toEqual(['added a 1', 'updated a 2']);

    await writer.save(stream, anOrigin({ runId: 'run-2' }), [{ id: 'a', v: 3 }]);
    expect(await giveAgain()).toBe('svc.dead-letter.resolved stale_attempt');
    expect(await actionsOf(world)).toEqual(['added a 1', 'updated a 2', 'updated a 3']);
  });

  it('is set aside at once when it cannot be read', async () => {
    await using world = await openRecordsWorld();
    const bad = { key: streamKey(stream), value: Buffer.from('nonsense'), headers: {} };
    await world.log.client().append([{ topic: recordCommandsTopic, partition, messages: [bad] }]);
    await using _owners = await world.startOwners();
    await world.writer.save(stream, origin, [{ id: 'a' }]);
    expect((await world.writer.barrier(stream, origin)).counts.added).toBe(1);
    const [letter] = world.log.partition(deadLettersTopic, 0).messages;
    const codec = await world.schemas.codec<{ value: Buffer; offset: number }>(deadLettersTopic);
    expect(codec.decode(letter!.value!)).toMatchObject({
      value: Buffer.from('nonsense'),
      offset: 0,
    });
  });
});

describe('emptying a stream', () => {
  it('purges every record with a tombstone, and the stream counts on', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, contacts(2));
    await writer.empty(stream, 'system');
    await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
    await writer.barrier(stream, origin);
    const actions = ['added c0 1', 'added c1 2', 'purged c0 1', 'purged c1 2', 'added c0 5'];
    expect(await actionsOf(world)).toEqual(actions);
    const { messages } = world.log.partition(recordsTopic, partition);
    const tombstones = messages.filter(({ value }) => value === null).map(({ key }) => key);
    expect(tombstones).toEqual([`${streamKey(stream)}/c0`, `${streamKey(stream)}/c1`]);
  });

  it('for good refuses whatever comes later', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, contacts(4500));
    await writer.prune(stream, 'system', { position: 3, limit: 10 });
    const none = { plain: 0, sealed: 0, pruned: 0 };
    const there = { ...none, plain: 4497, pruned: 3 };
    expect(await writer.close(stream, 'system')).toEqual(there);
    await writer.save(stream, origin, [{ id: 'late' }]);
    await expect(writer.barrier(stream, origin)).rejects.toMatchObject({ code: 'stream_closed' });
    expect(await writer.close(stream, 'system')).toEqual(none);
    const actions = await actionsOf(world);
    expect(actions.filter((text) => text.startsWith('purged'))).toHaveLength(4500);
    expect(actions).toHaveLength(9003);
  });

  it('of a connection whose key was destroyed still works; saving to it does not', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, contacts(1));
    await writer.barrier(stream, origin);
    await world.vault.shred(stream.connectionUid);
    await writer.save(stream, origin, [{ id: 'late' }]);
    await expect(writer.lookup(stream, origin, ['c0'])).rejects.toMatchObject({
      code: 'stream_closed',
    });
    await writer.empty(stream, 'system');
    expect(await actionsOf(world)).toEqual(['added c0 1', 'purged c0 1']);
  });
});

describe('pruning', () => {
  it('empties the oldest up to the position, and moves nothing', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, origin, contacts(4));
    const until = { position: 3, limit: 2 };
    expect(await writer.prune(stream, 'key:1', until)).toEqual({ count: 2, lastPosition: 2 });
    expect(await writer.prune(stream, 'key:1', until)).toEqual({ count: 1, lastPosition: 3 });
    expect(await writer.prune(stream, 'key:1', until)).toEqual({ count: 0, lastPosition: null });
    await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
    const found = await writer.lookup(stream, origin, ['c0', 'c1', 'c3', 'c9']);
    expect(found.map(({ payload }) => payload)).toEqual([
      { id: 'c0', v: 1 },
      { id: 'c1' },
      { id: 'c3', v: 1 },
    ]);
    const changes = (await actionsOf(world)).slice(4);
    expect(changes).toEqual(['pruned c0 1', 'pruned c1 2', 'pruned c2 3', 'restored c0 1']);
  });
});

describe('the merging strategy ignore_if_modified_after', () => {
  it('§7.7 ignore_if_modified_after leaves what another writer modified since, and not what the run itself did', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    const hook = anOrigin({ runId: 'hook' });
    await writer.save(stream, origin, contacts(3));
    await writer.setMergingStrategy(stream, origin, 'ignore_if_modified_after');
    await writer.save(stream, hook, [{ id: 'c0', v: 'hook' }]);
    await writer.save(stream, origin, [{ id: 'c1', v: 'run' }]);
    await writer.save(stream, origin, [
      { id: 'c0', v: 'run' },
      { id: 'c1', v: 'run again' },
    ]);
    await writer.delete(stream, origin, [{ id: 'c0' }]);
    const found = await writer.lookup(stream, origin, ['c0', 'c1', 'c2']);
    expect(found.map(({ payload, deletedAt }) => [payload['v'], deletedAt])).toEqual([
      ['hook', null],
      ['run again', null],
      [1, null],
    ]);
  });
});

describe('an owner', () => {
  it('deletes commands that are decided and a day old', async () => {
    const clock = handClock();
    await using world = await openRecordsWorld({ clock });
    const { writer } = world;
    {
      await using _owners = await world.startOwners();
      await writer.save(stream, origin, contacts(1));
      await writer.barrier(stream, origin);
    }
    clock.forward(dayMs + 1000);
    await using _owners = await world.startOwners();
    await writer.save(stream, origin, contacts(2));
    await writer.barrier(stream, origin);
    while (world.keptCommands(stream).start < 2)
      await new Promise((resolve) => setImmediate(resolve));
    expect(world.keptCommands(stream).messages.map(({ offset }) => offset)).toEqual([2, 3]);
  });

  it('commits its store once for saves that follow one another: when they pause, or after a second', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    using _timers = { [Symbol.dispose]: () => vi.useRealTimers() };
    const clock = handClock();
    await using world = await openRecordsWorld({ clock });
    const { writer } = world;
    let commits = 0;
    const faultPoint = (name: string) => {
      if (name === 'records:after-state-commit') commits += 1;
    };
    await using _owners = await world.startOwners({ faultPoint });
    const save = async (times: number) => {
      for (let n = 0; n < times; n += 1) {
        await writer.save(stream, origin, contacts(1, n));
        await writer.barrier(stream, origin);
      }
    };
    await save(5);
    expect(commits).toBe(0);
    await vi.advanceTimersByTimeAsync(100);
    while (commits === 0) await new Promise((resolve) => setImmediate(resolve));
    await save(5);
    expect(commits).toBe(1);
    clock.forward(1000);
    await save(1);
    expect(commits).toBe(2);
  });

  it('raises the epoch with each take-over', async () => {
    await using world = await openRecordsWorld();
    for (const id of ['a', 'b', 'c']) {
      await using _owners = await world.startOwners();
      await world.writer.save(stream, origin, [{ id }]);
      await world.writer.barrier(stream, origin);
    }
    expect((await world.changes()).map((change) => change.owner_epoch)).toEqual([1, 2, 3]);
  });

  it.each([
    ['was not at the end for three days', async () => undefined],
    [
      'is damaged',
      (folder: string) => writeFile(join(folder, `records-${partition}.db`), 'x'.repeat(50_000)),
    ],
  ])('rebuilds a store that %s from the log', async (_name, spoil) => {
    const clock = handClock();
    await using world = await openRecordsWorld({ clock });
    const { writer } = world;
    {
      await using _owners = await world.startOwners();
      await writer.save(stream, origin, contacts(3));
      await writer.barrier(stream, origin);
    }
    clock.forward(3 * dayMs);
    await spoil(world.folder);
    await using _owners = await world.startOwners();
    await writer.save(stream, origin, contacts(3));
    const { counts } = await writer.barrier(stream, origin);
    expect(counts).toEqual({ added: 3, updated: 0, deleted: 0, unchanged: 3 });
    expect(await world.changes()).toHaveLength(3);
  });
});
