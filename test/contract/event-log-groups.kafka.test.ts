import kafkajs from 'kafkajs';
import { describe, expect, it } from 'vitest';
import type { EventLog, Membership } from '#ports/event-log.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { brokersOf, openTestLog } from '#test/support/worlds/kafka-open.ts';
import { HoldingMember, keptTopic } from '#test/support/worlds/log.ts';

const prefix = ownPrefix();
const topic = 'svc.grouped.v1';

async function groups(): Promise<string[]> {
  const brokers = brokersOf(serviceUrl('kafka'));
  const admin = new kafkajs.Kafka({ brokers, logLevel: kafkajs.logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups: all } = await admin.listGroups();
    return all.map(({ groupId }) => groupId).filter((name) => name.startsWith(`${prefix}.`));
  } finally {
    await admin.disconnect();
  }
}

/** Resolves when it holds some partitions. */
async function joined(
  log: EventLog,
  group: string,
  options?: Parameters<EventLog['join']>[3],
): Promise<Membership> {
  const member = new HoldingMember();
  const membership = await log.join(group, [topic], member, options);
  await HoldingMember.until(() => member.held.size > 0);
  return membership;
}

describe('a group in Kafka', () => {
  it('without positions ends with its last member; one with positions stays', async () => {
    await using first = await openTestLog(serviceUrl('kafka'), { prefix });
    await using second = await openTestLog(serviceUrl('kafka'), { prefix });
    await first.log.ensureTopics([keptTopic(topic, 4)]);
    const options = { hasPositions: false };
    const [one, another] = [
      await joined(first.log, 'svc.table', options),
      await joined(second.log, 'svc.table', options),
    ];
    const kept = await joined(first.log, 'svc.kept');
    await one[Symbol.asyncDispose]();
    expect(await groups()).toContain(`${prefix}.table`);
    await Promise.all([another[Symbol.asyncDispose](), kept[Symbol.asyncDispose]()]);
    expect(await groups()).toEqual([`${prefix}.kept`]);
    const again = await joined(second.log, 'svc.table', options);
    expect(await groups()).toContain(`${prefix}.table`);
    await again[Symbol.asyncDispose]();
    expect(await groups()).toEqual([`${prefix}.kept`]);
  });

  it('without positions ends also when its members leave at the same time', async () => {
    const logs = await Promise.all(
      [1, 2, 3].map(() => openTestLog(serviceUrl('kafka'), { prefix })),
    );
    const members = await Promise.all(
      logs.map(({ log }) => joined(log, 'svc.together', { hasPositions: false })),
    );
    await Promise.all(members.map((member) => member[Symbol.asyncDispose]()));
    expect(await groups()).not.toContain(`${prefix}.together`);
    for (const opened of logs) await opened[Symbol.asyncDispose]();
  });
});
