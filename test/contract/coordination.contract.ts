import { describe, expect, it } from 'vitest';
import type { Coordination } from '../../src/ports/coordination.ts';

export interface CoordinationHarness {
  open(): Promise<Coordination>;
  /** Lets this much time pass for the adapter. */
  pass(ms: number): Promise<void>;
}

export function coordinationContract(name: string, harness: CoordinationHarness): void {
  describe(`Coordination contract: ${name}`, () => {
    it('gives a lease to one holder at a time', async () => {
      await using here = await harness.open();
      const lease = await here.acquire('refresh/1', { ttlMs: 1_000 });
      expect(lease).not.toBeNull();
      expect(await here.acquire('refresh/1', { ttlMs: 1_000 })).toBeNull();
      expect(await here.acquire('refresh/2', { ttlMs: 1_000 })).not.toBeNull();
    });

    it('ends a lease by itself, and extends it for its holder', async () => {
      await using here = await harness.open();
      const lease = await here.acquire('a', { ttlMs: 1_000 });
      await harness.pass(600);
      expect(await here.acquire('a', { ttlMs: 1_000, token: lease!.token })).toEqual(lease);
      await harness.pass(600);
      expect(await here.acquire('a', { ttlMs: 1_000 })).toBeNull();
      await harness.pass(600);
      expect(await here.acquire('a', { ttlMs: 1_000 })).not.toBeNull();
    });

    it('releases a lease only for its holder', async () => {
      await using here = await harness.open();
      const lease = await here.acquire('b', { ttlMs: 60_000 });
      await here.release({ name: 'b', token: 'another' });
      expect(await here.acquire('b', { ttlMs: 60_000 })).toBeNull();
      await here.release(lease!);
      expect(await here.acquire('b', { ttlMs: 60_000 })).not.toBeNull();
    });

    it('counts within a window and starts again after it', async () => {
      await using here = await harness.open();
      expect((await here.count('key', { windowMs: 1_000 })).value).toBe(1);
      const second = await here.count('key', { windowMs: 1_000, by: 4 });
      expect(second.value).toBe(5);
      expect(second.resetMs).toBeGreaterThan(0);
      expect(second.resetMs).toBeLessThanOrEqual(1_000);
      await harness.pass(1_100);
      expect((await here.count('key', { windowMs: 1_000 })).value).toBe(1);
    });

    it('keeps a value until its time is over or it is deleted', async () => {
      await using here = await harness.open();
      await here.set('k', 'v', { ttlMs: 1_000 });
      expect(await here.get('k')).toBe('v');
      await harness.pass(1_100);
      expect(await here.get('k')).toBeNull();
      await here.set('k', 'w', { ttlMs: 1_000 });
      await here.delete('k');
      expect(await here.get('k')).toBeNull();
    });

    it('tells listeners of a channel, and only them, until they leave', async () => {
      await using here = await harness.open();
      const heard: string[] = [];
      const subscription = await here.subscribe('c', (message) => heard.push(message));
      await here.publish('c', 'one');
      await here.publish('other', 'two');
      await harness.pass(50);
      await subscription[Symbol.asyncDispose]();
      await here.publish('c', 'three');
      await harness.pass(50);
      expect(heard).toEqual(['one']);
    });
  });
}
