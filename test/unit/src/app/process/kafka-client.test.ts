import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { loadConfig } from '#app/config/config.ts';
import { clientOf } from '#app/process/open-log.ts';

const node = '1c0e6a52-7f5e-4c55-9d9e-3f8f7b6a5d4c';
const servers = {
  SVC_LOG_URL: 'kafka://kafka:9092',
  SVC_REGISTRY_URL: 'http://registry:8080',
  SVC_CLICKHOUSE_URL: 'http://clickhouse:8123/gateway',
  SVC_REDIS_URL: 'redis://redis:6379',
  SVC_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString('base64'),
};

it('is known to brokers by its roles, its host and its process', () => {
  const nameWith = (env: Readonly<Record<string, string>>) =>
    clientOf(loadConfig({ ...servers, ...env }), node);
  expect(nameWith({})).toBe(`svc.all.${hostname()}.1c0e6a52`);
  expect(nameWith({ SVC_ROLES: 'owner,projector', SVC_TOPIC_PREFIX: 'eu' })).toBe(
    `eu.owner-projector.${hostname()}.1c0e6a52`,
  );
});
