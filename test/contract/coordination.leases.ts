import { expect, it } from 'vitest';
import type { CoordinationHarness } from './coordination.contract.ts';

const minute = 60_000;

/** What `acquire` and `release` promise. */
export function leasesContract(harness: CoordinationHarness): void {
  it('have one holder at a time, over all nodes', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    expect(await here.acquire('refresh/1', { ttlMs: minute })).not.toBeNull();
    expect(await here.acquire('refresh/1', { ttlMs: minute })).toBeNull();
    expect(await there.acquire('refresh/1', { ttlMs: minute, token: 'mine' })).toBeNull();
    expect(await there.acquire('refresh/2', { ttlMs: minute })).not.toBeNull();
  });

  it('go to one of many who ask at once', async () => {
    await using world = await harness.begin();
    const nodes = [await world.open(), await world.open()];
    const asked = await Promise.all(
      nodes.flatMap((node) =>
        Array.from({ length: 50 }, () => node.acquire('one', { ttlMs: minute })),
      ),
    );
    expect(asked.filter((lease) => lease !== null).length).toBe(1);
  });

  it('end by themselves, and later when their holder extends them', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    const lease = await here.acquire('a', { ttlMs: minute });
    await world.pass(40_000);
    expect(await there.acquire('a', { ttlMs: minute, token: lease!.token })).toEqual(lease);
    await world.pass(40_000);
    expect(await here.acquire('a', { ttlMs: minute })).toBeNull();
    await world.pass(21_000);
    const next = await there.acquire('a', { ttlMs: minute });
    expect(next).not.toBeNull();
    expect(next!.token).not.toBe(lease!.token);
  });

  it('cannot be extended any more once another holds them', async () => {
    await using world = await harness.begin();
    const [here, there] = [await world.open(), await world.open()];
    const former = await here.acquire('a', { ttlMs: minute });
    await world.pass(61_000);
    const present = await there.acquire('a', { ttlMs: minute });
    expect(await here.acquire('a', { ttlMs: minute, token: former!.token })).toBeNull();
    await here.release(former!);
    expect(await here.acquire('a', { ttlMs: minute })).toBeNull();
    await there.release(present!);
    expect(await here.acquire('a', { ttlMs: minute })).not.toBeNull();
  });

  it('are given back by their holder alone, as often as it likes', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    const lease = await here.acquire('b', { ttlMs: minute });
    await here.release({ name: 'b', token: 'another' });
    await here.release({ name: 'nobody has it', token: lease!.token });
    expect(await here.acquire('b', { ttlMs: minute })).toBeNull();
    await here.release(lease!);
    await here.release(lease!);
    expect(await here.acquire('b', { ttlMs: minute })).not.toBeNull();
  });

  it('have names and tokens of any characters', async () => {
    await using world = await harness.begin();
    const here = await world.open();
    const names = ['', ' ', 'a:b', 'a/b', 'ü 漢\u0000\r\n', '*', 'KEYS[1]'];
    for (const name of names) {
      const lease = await here.acquire(name, { ttlMs: minute, token: `of ${name}` });
      expect(lease).toEqual({ name, token: `of ${name}` });
      expect(await here.acquire(name, { ttlMs: minute })).toBeNull();
    }
    for (const name of names) await here.release({ name, token: `of ${name}` });
    for (const name of names) {
      expect(await here.acquire(name, { ttlMs: minute })).not.toBeNull();
    }
  });
}
