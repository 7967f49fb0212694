import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { Kafka, logLevel } from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { startChild } from '#test/support/processes/child.ts';
import { startKafka } from './kafka.ts';
import { startRedis } from './redis.ts';
import { startRegistry } from './registry.ts';
import type { Service } from './service.ts';

interface Subject {
  readonly start: () => Promise<Service>;
  readonly write: (url: string) => Promise<unknown>;
  /** What was written, or null. */
  readonly read: (url: string) => Promise<unknown>;
}

async function withKafka<T>(url: string, use: (kafka: Kafka) => Promise<T>): Promise<T> {
  return use(new Kafka({ brokers: [new URL(url).host], logLevel: logLevel.NOTHING }));
}

const redis: Subject = {
  start: startRedis,
  async write(url) {
    const client = new Redis(url);
    await client.set('key', 'value');
    await client.quit();
  },
  async read(url) {
    const client = new Redis(url);
    const value = await client.get('key');
    await client.quit();
    return value;
  },
};

const kafka: Subject = {
  start: startKafka,
  write: (url) =>
    withKafka(url, async (client) => {
      const admin = client.admin();
      await admin.createTopics({ topics: [{ topic: 'kept' }], waitForLeaders: false });
      await admin.disconnect();
    }),
  read: (url) =>
    withKafka(url, async (client) => {
      const admin = client.admin();
      const topics = await admin.listTopics();
      await admin.disconnect();
      return topics.find((topic) => topic === 'kept') ?? null;
    }),
};

const registry: Subject = {
  start: startRegistry,
  async write(url) {
    const response = await fetch(`${url}/subjects/kept/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/vnd.schemaregistry.v1+json' },
      body: JSON.stringify({ schema: '"string"' }),
    });
    expect(response.status).toBe(200);
  },
  async read(url) {
    const response = await fetch(`${url}/subjects`);
    return ((await response.json()) as string[]).find((subject) => subject === 'kept') ?? null;
  },
};

describe.each(Object.entries({ redis, kafka, registry }))('%s', (_, { start, write, read }) => {
  it('keeps its data and its address when it is killed and started again', async () => {
    await using service = await start();
    expect(await read(service.url)).toBeNull();
    await write(service.url);
    const { pid, url } = service;
    await service.kill();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    await service.restart();
    expect(service.url).toBe(url);
    expect(await read(url)).not.toBeNull();
  });
});

describe('a started service', () => {
  it('does not answer while it is paused', async () => {
    await using service = await startRedis();
    const client = new Redis(service.url);
    await client.ping();
    service.pause();
    let answered = false;
    const answer = client.ping().then(() => (answered = true));
    await sleep(300);
    expect(answered).toBe(false);
    service.resume();
    expect(await answer).toBe(true);
    await client.quit();
  });

  it('can be stopped while it is paused', async () => {
    const service = await startRedis();
    const { pid } = service;
    service.pause();
    await service.stop();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });

  it('ends, and its data with it, when the process is killed that started it', async () => {
    const child = startChild('../../services/redis-child.ts', []);
    const [line] = (await once(createInterface(child.process.stdout), 'line')) as [string];
    const { url, folder } = JSON.parse(line) as Service;
    expect(existsSync(folder)).toBe(true);
    child.process.kill('SIGKILL');
    await child.ended;
    await expect.poll(() => existsSync(folder)).toBe(false);
    const connected = once(connect(Number(new URL(url).port), '127.0.0.1'), 'connect');
    await expect(connected).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});
