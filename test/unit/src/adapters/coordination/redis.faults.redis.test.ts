import { pino, type Logger } from 'pino';
import { describe, expect, it } from 'vitest';
import { openRedisCoordination } from '#adapters/coordination/redis.ts';
import type { Coordination } from '#ports/coordination.ts';
import { startRedis } from '#test/services/redis.ts';
import { startChild } from '#test/support/processes/child.ts';

const minute = 60_000;
const away = { code: 'coordination_unavailable' };

/** A logger, and the lines that it wrote. */
function linesOf(): { logger: Logger; lines: string[] } {
  const lines: string[] = [];
  return { logger: pino({ level: 'trace' }, { write: (line) => void lines.push(line) }), lines };
}

/** Until the adapter has found the server again. */
async function untilBack(coordination: Coordination): Promise<void> {
  await expect
    .poll(() => coordination.get('probe').then(() => 'back', String), { timeout: 20_000 })
    .toBe('back');
}

async function expectAway(coordination: Coordination): Promise<void> {
  await expect(coordination.acquire('b', { ttlMs: minute })).rejects.toMatchObject(away);
  await expect(coordination.set('k', 'v', { ttlMs: minute })).rejects.toMatchObject(away);
  await expect(coordination.get('k')).rejects.toMatchObject(away);
  await expect(coordination.delete('k')).rejects.toMatchObject(away);
  await expect(coordination.publish('c', 'm')).rejects.toMatchObject(away);
  await coordination.release({ name: 'a', token: 't' });
}

describe('coordination whose Redis is killed', () => {
  it('fails at once, and works again when it is back', async () => {
    await using redis = await startRedis();
    const { logger, lines } = linesOf();
    const options = { url: redis.url, prefix: 'p', logger };
    await using coordination = await openRedisCoordination(options);
    const lease = await coordination.acquire('a', { ttlMs: minute });
    await redis.kill();
    await expectAway(coordination);

    await redis.restart();
    await untilBack(coordination);
    expect(await coordination.acquire('a', { ttlMs: minute })).toBeNull();
    expect(await coordination.acquire('a', { ttlMs: minute, token: lease!.token })).toEqual(lease);
    const told = (text: string) => lines.filter((line) => line.includes(text)).length;
    // Once for each of the two connections, however often they try.
    expect(told('coordination is away')).toBe(2);
    await expect.poll(() => told('coordination is back')).toBe(2);
  });

  it('counts on this node meanwhile, and among all again afterwards', async () => {
    await using redis = await startRedis();
    const options = { url: redis.url, prefix: 'p' };
    await using here = await openRedisCoordination(options);
    await using there = await openRedisCoordination(options);
    const count = async (node: Coordination) =>
      (await node.count('key', { windowMs: minute })).value;
    expect([await count(here), await count(there)]).toEqual([1, 2]);
    await redis.kill();
    expect([await count(here), await count(here), await count(there)]).toEqual([1, 2, 1]);
    await redis.restart();
    await untilBack(here);
    await untilBack(there);
    expect([await count(here), await count(there)]).toEqual([3, 4]);
  });

  it('hears its channels again when it is back', async () => {
    await using redis = await startRedis();
    const options = { url: redis.url, prefix: 'p' };
    await using here = await openRedisCoordination(options);
    await using there = await openRedisCoordination(options);
    const heard: string[] = [];
    await here.subscribe('c', (message) => heard.push(message));
    const left = await here.subscribe('left', (message) => heard.push(message));
    await redis.kill();
    await left[Symbol.asyncDispose]();
    await redis.restart();
    await untilBack(there);
    await expect
      .poll(
        async () => {
          await there.publish('left', 'to nobody');
          await there.publish('c', 'hello');
          return heard[0];
        },
        { timeout: 20_000 },
      )
      .toBe('hello');
    expect(new Set(heard)).toEqual(new Set(['hello']));
  });
});

describe('coordination whose Redis does not answer', () => {
  it('limits its wait for a response, and works again when Redis responds', async () => {
    await using redis = await startRedis();
    const options = { url: redis.url, prefix: 'p' };
    await using coordination = await openRedisCoordination(options);
    redis.pause();
    await expectAway(coordination);
    expect((await coordination.count('key', { windowMs: minute })).value).toBe(1);
    redis.resume();
    await untilBack(coordination);
    expect(await coordination.acquire('a', { ttlMs: minute })).not.toBeNull();
  });

  it('opens, and is taken into use when it comes', async () => {
    await using redis = await startRedis();
    await redis.kill();
    await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
    await expectAway(coordination);
    const heard: string[] = [];
    await coordination.subscribe('c', (message) => heard.push(message));
    await redis.restart();
    await untilBack(coordination);
    expect(await coordination.acquire('a', { ttlMs: minute })).not.toBeNull();
    const told = async () => {
      await coordination.publish('c', 'hello');
      return heard[0];
    };
    await expect.poll(told, { timeout: 20_000 }).toBe('hello');
  });
});

describe('time', () => {
  it('ends leases, values and windows on the server itself', async () => {
    await using redis = await startRedis();
    await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
    await coordination.acquire('a', { ttlMs: 300 });
    await coordination.set('a', 'value', { ttlMs: 300 });
    await coordination.count('a', { windowMs: 300, by: 1_000 });
    await expect.poll(() => coordination.acquire('a', { ttlMs: 300 })).not.toBeNull();
    await expect.poll(() => coordination.get('a')).toBeNull();
    const count = async () => (await coordination.count('a', { windowMs: 300 })).value;
    await expect.poll(count).toBeLessThan(1_000);
  });
});

describe('access', () => {
  const password = 'correct-horse';

  it('is by the password of the URL', async () => {
    await using redis = await startRedis({ password });
    await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
    expect(await coordination.acquire('a', { ttlMs: minute })).not.toBeNull();
  });

  it.each([
    ['a wrong one', 'wrong-battery'],
    ['none', ''],
  ])('with %s is refused when it is opened, and the error shows no secret', async (_, wrong) => {
    await using redis = await startRedis({ password });
    const url = new URL(redis.url);
    url.password = wrong;
    const { logger, lines } = linesOf();
    const opening = openRedisCoordination({ url: url.href, prefix: 'p', logger });
    const error: unknown = await opening.catch((refusal: unknown) => refusal);
    expect(error).toMatchObject(away);
    expect(String(error)).toMatch(/refuses the connection .*check the user, password/);
    const told = [...lines, String(error), JSON.stringify(error)].join('\n');
    expect(told).not.toMatch(new RegExp(`${password}|wrong-battery`));
  });

  it('is encrypted with rediss', async () => {
    await using redis = await startRedis({ password, isEncrypted: true });
    const env = { NODE_EXTRA_CA_CERTS: `${redis.folder}/certificate.pem` };
    const child = startChild('coordination-child.ts', [redis.url], env);
    const told: unknown[] = [];
    for await (const line of child.lines) told.push(line);
    expect([await child.ended, child.errors, told]).toEqual([0, [], [{ name: 'a', token: 't' }]]);
  });
});
