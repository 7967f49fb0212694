import { expect, it } from 'vitest';
import { openRedisCoordination } from '#adapters/coordination/redis.ts';
import { startRedis } from '#test/services/redis.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

const lastUsed = (api: Api) => async () => {
  const answer = await api.call('GET', '/account/api-keys', { key: api.keys.account });
  expect(codeOf(answer)).toBe('200 ');
  return answer.at('data.0.last_used_at');
};

it('without coordination keys are checked, calls answered and uses of keys noted', async () => {
  await using redis = await startRedis();
  await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
  await using api = await startApi({ coordination });
  await redis.kill();
  expect(codeOf(await api.call('GET', '/integrations'))).toBe('200 ');
  const key = `svc_env_${'x'.repeat(43)}`;
  expect(codeOf(await api.call('GET', '/integrations', { key }))).toBe('401 unknown_account');
  await expect.poll(lastUsed(api)).not.toBeNull();
});

it('without coordination each node keeps to the rate limit on its own', async () => {
  await using redis = await startRedis();
  await using coordination = await openRedisCoordination({ url: redis.url, prefix: 'p' });
  await using api = await startApi({ coordination, rateLimitPerMinute: 3 });
  const call = async () => {
    const answer = await api.call('GET', '/integrations');
    return [answer.status, answer.headers.get('x-ratelimit-remaining')];
  };
  expect([await call(), await call()]).toEqual([
    [200, '2'],
    [200, '1'],
  ]);
  await redis.kill();
  const alone = [await call(), await call(), await call(), await call()];
  expect(alone).toEqual([
    [200, '2'],
    [200, '1'],
    [200, '0'],
    [429, '0'],
  ]);
  await redis.restart();
  const probe = () => coordination.get('k').then(() => 'back', String);
  await expect.poll(probe).toBe('back');
  expect([await call(), await call()]).toEqual([
    [200, '0'],
    [429, '0'],
  ]);
});
