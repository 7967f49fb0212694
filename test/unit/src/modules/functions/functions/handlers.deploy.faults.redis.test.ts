import { expect, it } from 'vitest';
import { openRedisCoordination } from '#adapters/coordination/redis.ts';
import { startRedis } from '#test/services/redis.ts';
import { aSync, openFunctionsWorld } from '#test/support/worlds/functions-api.ts';

it('a deployment without coordination changes nothing, and may be tried again', async () => {
  await using redis = await startRedis();
  await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
  await using world = await openFunctionsWorld(coordination);
  const api = await world.api();
  const functions = [aSync('contacts')];
  await redis.kill();
  await expect(api.deploy(functions)).rejects.toMatchObject({
    code: 'coordination_unavailable',
    status: 503,
  });
  expect((await api.preview(functions)).created).toHaveLength(1);
  await redis.restart();
  const deploy = () => api.deploy(functions).then(({ created }) => created.length, String);
  await expect.poll(deploy).toBe(1);
});
