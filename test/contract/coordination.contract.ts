import { describe, expect, it } from 'vitest';
import type { Coordination } from '#ports/coordination.ts';
import { budgetsContract } from './coordination.budgets.ts';
import { leasesContract } from './coordination.leases.ts';

/** A coordination that nobody has used yet. */
export interface EmptyCoordination extends AsyncDisposable {
  /** As another node sees it. */
  open(): Promise<Coordination>;
  /** Lets this much time pass for what is kept. */
  pass(ms: number): Promise<void>;
  /** Monotonic milliseconds, in which `wait` passes. */
  now(): number;
  /** Lets this much time pass for the clock of the nodes, or of their server. */
  wait(ms: number): Promise<void>;
}

export interface CoordinationHarness {
  begin(): Promise<EmptyCoordination>;
}

const minute = 60_000;
const text = 'ünïcödé 漢字 🙂 \u0000\n"\'{}';
const large = 'ä'.repeat(2 * 1024 ** 2);

/** The promises of `src/ports/coordination.ts`; every adapter passes the same. */
export function coordinationContract(name: string, harness: CoordinationHarness): void {
  describe(`Coordination contract: ${name}`, () => {
    describe('leases', () => leasesContract(harness));
    describe('counters', () => countersContract(harness));
    describe('budgets of calls', () => budgetsContract(harness));
    describe('values', () => valuesContract(harness));
    describe('channels', () => channelsContract(harness));
  });
}

function countersContract(harness: CoordinationHarness): void {
  it('count within a window, which further counts do not prolong, and start again after it', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    expect((await here.count('key', { windowMs: minute })).value).toBe(1);
    await world.pass(40_000);
    const second = await here.count('key', { windowMs: minute, by: 4 });
    expect(second.value).toBe(5);
    expect(second.resetMs).toBeGreaterThan(0);
    expect(second.resetMs).toBeLessThanOrEqual(20_000);
    await world.pass(21_000);
    const third = await here.count('key', { windowMs: minute });
    expect(third.value).toBe(1);
    expect(third.resetMs).toBeGreaterThan(20_000);
  });

  it('lose no count of any node, and give each its own value', async () => {
    await using world = await harness.begin();
    const nodes = [await world.open(), await world.open(), await world.open()];
    const counts = await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 100 }, async () => node.count('key', { windowMs: minute })),
      ),
    );
    const values = counts.map(({ value }) => value).sort((a, b) => a - b);
    expect(values).toEqual(Array.from({ length: 300 }, (_, n) => n + 1));
  });

  it('are apart by their names, and from leases and values of the same name', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    await here.set('a', '7', { ttlMs: minute });
    await here.acquire('a', { ttlMs: minute });
    for (const name of ['a', 'A', 'a ', text]) {
      expect((await here.count(name, { windowMs: minute })).value).toBe(1);
    }
    expect(await here.get('a')).toBe('7');
    expect(await here.acquire('a', { ttlMs: minute })).toBeNull();
  });
}

function valuesContract(harness: CoordinationHarness): void {
  it('are there for every node until their time is over or they are deleted', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    expect(await there.get('k')).toBeNull();
    await here.set('k', 'v', { ttlMs: minute });
    await world.pass(50_000);
    expect(await there.get('k')).toBe('v');
    await world.pass(11_000);
    expect(await there.get('k')).toBeNull();
    await here.set('k', 'w', { ttlMs: minute });
    await there.delete('k');
    await there.delete('k');
    expect(await here.get('k')).toBeNull();
  });

  it('take a new time with a new value', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    await here.set('k', 'first', { ttlMs: minute });
    await world.pass(50_000);
    await here.set('k', 'second', { ttlMs: minute });
    await world.pass(50_000);
    expect(await here.get('k')).toBe('second');
  });

  it.each([
    ['empty', ''],
    ['of any characters', text],
    ['large', large],
  ])('may be %s', async (_, value) => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    await here.set(text, value, { ttlMs: minute });
    expect((await there.get(text)) === value).toBe(true);
  });
}

/** Channels keep order, so that what was not heard before the last message was not sent. */
function channelsContract(harness: CoordinationHarness): void {
  const last = 'last';
  const hears = async (node: Coordination, channel: string) => {
    const heard: string[] = [];
    const ended = Promise.withResolvers<string[]>();
    const subscription = await node.subscribe(channel, (message) => {
      if (message === last) ended.resolve(heard);
      else heard.push(message);
    });
    return { heard, all: ended.promise, leave: () => subscription[Symbol.asyncDispose]() };
  };

  it('reach every listener of every node, in order, and none of another channel', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    const listeners = [await hears(here, 'c'), await hears(there, 'c'), await hears(there, 'c')];
    const sent = Array.from({ length: 50 }, (_, n) => `message ${n}`);
    for (const message of sent) {
      await here.publish('other', 'of the other channel');
      await here.publish('c', message);
    }
    await here.publish('c', last);
    for (const { all } of listeners) expect(await all).toEqual(sent);
  });

  it('stop for a listener that has left, and still reach the others', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    const [leaving, staying, alone] = [
      await hears(here, 'c'),
      await hears(here, 'c'),
      await hears(there, 'c'),
    ];
    await there.publish('c', 'one');
    await expect
      .poll(() => [leaving.heard, staying.heard, alone.heard])
      .toEqual([['one'], ['one'], ['one']]);
    await leaving.leave();
    await leaving.leave();
    await alone.leave();
    await there.publish('c', 'two');
    await there.publish('c', last);
    expect(await staying.all).toEqual(['one', 'two']);
    expect([leaving.heard, alone.heard]).toEqual([['one'], ['one']]);
  });

  it('can be joined again after everyone has left', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    await (await hears(here, 'c')).leave();
    await here.publish('c', 'to nobody');
    const listener = await hears(here, 'c');
    await here.publish('c', 'one');
    await here.publish('c', last);
    expect(await listener.all).toEqual(['one']);
  });

  it('carry messages of any characters, the empty one and large ones', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    const listener = await hears(there, text);
    for (const message of [text, '', large, last]) await here.publish(text, message);
    const heard = await listener.all;
    expect(heard.length).toBe(3);
    expect(heard[0] === text && heard[1] === '' && heard[2] === large).toBe(true);
  });
}
