import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { topicSpecs } from '#app/process/topics.ts';
import type { Cleanup, EventLog } from '#ports/event-log.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { brokersOf, openTestLog } from '#test/support/worlds/kafka-open.ts';
import { Follower, message, placed, position, readAll, textOf } from '#test/support/worlds/log.ts';

const compact: Cleanup = { policy: 'compact', minLagMs: 1000, maxLagMs: 2000, tombstoneMs: 3000 };

async function withAdmin<T>(work: (admin: kafkajs.Admin) => Promise<T>): Promise<T> {
  const brokers = brokersOf(serviceUrl('kafka'));
  const kafka = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.disconnect();
  }
}

const type = kafkajs.ConfigResourceTypes.TOPIC;

const settingsOf = (topic: string): Promise<Record<string, string>> =>
  withAdmin(async (admin) => {
    const resources = [{ type, name: topic }];
    const described = await admin.describeConfigs({ includeSynonyms: false, resources });
    const entries = described.resources[0]?.configEntries ?? [];
    return Object.fromEntries(entries.map((entry) => [entry.configName, entry.configValue]));
  });

/** As an operator would, by hand; resolves when the broker shows it. */
async function alter(topic: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const configEntries = Object.entries(settings).map(([name, value]) => ({ name, value }));
  const resources = [{ type, name: topic, configEntries }];
  await withAdmin((admin) => admin.alterConfigs({ validateOnly: false, resources }));
  const isShown = async (): Promise<boolean> => {
    const shown = await settingsOf(topic);
    return configEntries.every(({ name, value }) => shown[name] === value);
  };
  while (!(await isShown())) await sleep(10);
}

describe('topics in Kafka', () => {
  it('are made with the settings that their spec asks for, under the prefix', async () => {
    const prefix = ownPrefix();
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
    await opened.log.ensureTopics([{ name: 'svc.records.v1', partitions: 3, cleanup: compact }]);
    const settings = await settingsOf(`${prefix}.records.v1`);
    expect(settings).toMatchObject({
      'cleanup.policy': 'compact',
      'min.compaction.lag.ms': '1000',
      'max.compaction.lag.ms': '2000',
      'delete.retention.ms': '3000',
      'message.timestamp.type': 'CreateTime',
      'min.insync.replicas': '1',
    });
    expect(await opened.log.partitions('svc.records.v1')).toBe(3);
  });

  it('of the whole service are made at once, and found again as they are', async () => {
    const prefix = ownPrefix();
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
    await opened.log.ensureTopics(topicSpecs(2));
    await using again = await openTestLog(serviceUrl('kafka'), { prefix });
    await again.log.ensureTopics(topicSpecs(2));
    for (const { name, partitions } of topicSpecs(2)) {
      expect(await again.log.partitions(name)).toBe(partitions);
    }
  });

  it('may be asked for by several processes at the same time', async () => {
    const prefix = ownPrefix();
    const specs = [1, 2, 3].map((nth) => ({ name: `t${nth}`, partitions: 2, cleanup: compact }));
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
        await opened.log.ensureTopics(specs);
        expect(await opened.log.partitions('t3')).toBe(2);
      }),
    );
  });

  it('that were altered by hand are a conflict that names what differs', async () => {
    const prefix = ownPrefix();
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
    const { log } = opened;
    const kept = { name: 'svc.kept.v1', partitions: 1, cleanup: { policy: 'none' } } as const;
    const compacted = { name: 'svc.compacted.v1', partitions: 1, cleanup: compact };
    await log.ensureTopics([kept, compacted]);
    await alter(`${prefix}.kept.v1`, { 'retention.ms': '3600000' });
    await alter(`${prefix}.compacted.v1`, { 'cleanup.policy': 'compact,delete' });
    const refused = await log.ensureTopics([kept, compacted]).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'conflict' });
    const { message: said } = refused as Error;
    expect(said).toContain(`${prefix}.kept.v1 differs`);
    expect(said).toContain('retention.ms is 3600000 instead of -1');
    expect(said).toContain('cleanup.policy is compact,delete instead of compact');
    expect(said).toContain('min.compaction.lag.ms is 0 instead of 1000');
  });

  it('refuse a message above their limit, and take its neighbors', async () => {
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix: ownPrefix() });
    const { log } = opened;
    await log.ensureTopics([{ name: 'limited', partitions: 1, cleanup: compact }]);
    const refused = { code: 'request_too_large' };
    const tooLarge = { key: 'large', value: randomBytes(6 * 1024 ** 2), headers: {} };
    const [before, failed, after] = await Promise.allSettled([
      log.append([placed('limited', 0, message('before'))]),
      log.append([placed('limited', 0, tooLarge)]),
      log.append([placed('limited', 0, message('after'))]),
    ]);
    expect(before.status).toBe('fulfilled');
    expect(failed).toMatchObject({ status: 'rejected', reason: refused });
    expect(after.status).toBe('fulfilled');
    await using writer = await log.openWriter('limited');
    const good = writer.commit([placed('limited', 0, message('good'))]);
    const bad = writer.commit([placed('limited', 0, tooLarge)]);
    await expect(bad).rejects.toMatchObject(refused);
    await good;
    await writer.commit([placed('limited', 0, message('on'))]);
    const shown = ['before', 'after', 'good', 'on'];
    let keys: (string | null)[] = [];
    while (keys.length < shown.length) keys = (await readAll(log, 'limited')).map(textOf);
    expect(keys).toEqual(shown);
  });
});

describe('positions of a group with members', () => {
  it('are committed by its member, by others, and in a transaction', async () => {
    const prefix = ownPrefix();
    await using one = await openTestLog(serviceUrl('kafka'), { prefix });
    await using other = await openTestLog(serviceUrl('kafka'), { prefix });
    await one.log.ensureTopics([{ name: 't', partitions: 2, cleanup: compact }]);
    const handler = { assigned: () => undefined, revoked: () => undefined };
    await using _ = await one.log.join('group', ['t'], handler);
    const at = (offset: number) => ({
      group: 'group',
      positions: [{ topic: 't', partition: 0, offset }],
    });
    await one.log.commit(at(1));
    expect((await other.log.committed('group', 't')).get(0)).toBe(1);
    await other.log.commit(at(2));
    expect((await one.log.committed('group', 't')).get(0)).toBe(2);
    await using writer = await other.log.openWriter('writer');
    await writer.commit([placed('t', 1, message('a'))], at(3));
    expect((await one.log.committed('group', 't')).get(0)).toBe(3);
  });
});

describe('a follower that takes nothing', () => {
  it('is sent only what its buffer holds, and gets the rest when it goes on', async () => {
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix: ownPrefix() });
    const { log } = opened;
    await log.ensureTopics([{ name: 'slow', partitions: 1, cleanup: compact }]);
    const mebibyte = 1024 ** 2;
    const count = 40;
    for (let nth = 0; nth < count; nth++) {
      const value = randomBytes(mebibyte);
      await log.append([placed('slow', 0, { key: String(nth), value, headers: {} })]);
    }
    const abort = new AbortController();
    const from = [{ topic: 'slow', partition: 0, offset: 0 }];
    const keys: string[] = [];
    const received = (): number => process.memoryUsage().arrayBuffers;
    gc();
    const before = received();
    for await (const { messages } of log.follow(from, { signal: abort.signal })) {
      if (keys.length === 0) {
        await fetchRounds(log, 2 * count);
        gc();
        expect(received() - before).toBeLessThan((count / 2) * mebibyte);
      }
      keys.push(...messages.map(({ key }) => key));
      if (keys.length >= count) abort.abort();
    }
    expect(keys).toEqual(Array.from({ length: count }, (_, nth) => String(nth)));
  });
});

/** Resolves when the process has fetched so many times: all its followers share a fetch. */
async function fetchRounds(log: EventLog, rounds: number): Promise<void> {
  await log.ensureTopics([{ name: 'rounds', partitions: 1, cleanup: compact }]);
  await using follower = new Follower(log, [position('rounds')]);
  for (let round = 1; round <= rounds; round++) {
    await log.append([placed('rounds', 0, message(String(round)))]);
    await follower.until(({ keys }) => keys.length >= round);
  }
}

/** What is no longer used is not counted. */
function gc(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
}
