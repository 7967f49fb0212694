import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import { topicSpecs } from '../../src/app/topics.ts';
import type { Cleanup } from '../../src/ports/event-log.ts';
import { ownPrefix, serviceUrl } from '../services/url.ts';
import { brokersOf, openTestLog } from '../support/kafka-open.ts';
import { message, placed, readAll, textOf } from '../support/log.ts';

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

/** As an operator would, by hand. */
const alter = (topic: string, settings: Readonly<Record<string, string>>) =>
  withAdmin((admin) =>
    admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: Object.entries(settings).map(([name, value]) => ({ name, value })),
        },
      ],
    }),
  );

describe('topics in Kafka', () => {
  it('are made with the settings that their spec asks for, under the prefix', async () => {
    const prefix = ownPrefix();
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix });
    await opened.log.ensureTopics([{ name: 'svc.records.v1', partitions: 3, cleanup: compact }]);
    const name = `${prefix}.records.v1`;
    const { resources } = await withAdmin((admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: kafkajs.ConfigResourceTypes.TOPIC, name }],
      }),
    );
    const settings = Object.fromEntries(
      resources[0]!.configEntries.map((entry) => [entry.configName, entry.configValue]),
    );
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

  it('refuse a message above their limit, and take its neighbours', async () => {
    await using opened = await openTestLog(serviceUrl('kafka'), { prefix: ownPrefix() });
    const { log } = opened;
    await log.ensureTopics([{ name: 'limited', partitions: 1, cleanup: compact }]);
    const large = Buffer.alloc(6 * 1024 ** 2);
    crypto.getRandomValues(large.subarray(0, 65_536));
    for (let at = 65_536; at < large.length; at += 65_536) {
      crypto.getRandomValues(large.subarray(at, at + 65_536));
    }
    const refused = { code: 'request_too_large' };
    const tooLarge = { key: 'large', value: large, headers: {} };
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
