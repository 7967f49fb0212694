import { afterAll, describe, expect, it } from 'vitest';
import { embeddedHarness } from '#test/support/worlds/embedded-log.ts';
import { keysOf, keptTopic, message, placed, position, readAll } from '#test/support/worlds/log.ts';
import { eventLogContract } from './event-log.contract.ts';

eventLogContract('embedded', embeddedHarness);

/** More than the port promises: one process knows all groups, so nothing is lost to a long standstill. */
describe('retention of the embedded log', () => {
  const harness = embeddedHarness();
  afterAll(() => harness.close());

  async function topicWith(keys: readonly string[]): Promise<string> {
    await using log = await harness.open();
    const cleanup = { policy: 'delete', retentionMs: 86_400_000 } as const;
    const topic = harness.name('cleaned');
    await log.ensureTopics([{ ...keptTopic(topic), cleanup }]);
    for (const key of keys) await log.append([placed(topic, 0, message(key))]);
    return topic;
  }

  it('never goes past the position of a registered group', async () => {
    await using log = await harness.open();
    const topic = await topicWith(['a', 'b', 'c', 'd']);
    const group = harness.name('group');
    const { offset } = (await readAll(log, topic))[1]!;
    await log.commit({ group, positions: [position(topic, 0, offset)] });
    await harness.expire();
    expect(await keysOf(log, topic)).toEqual(['b', 'c', 'd']);
    const end = await log.endOffset(topic, 0);
    await log.commit({ group, positions: [position(topic, 0, end)] });
    await harness.expire();
    expect(await keysOf(log, topic)).toEqual([]);
  });

  it('removes nothing that a group has joined for and not read', async () => {
    await using log = await harness.open();
    const topic = await topicWith(['a', 'b']);
    const handler = { assigned: () => undefined, revoked: () => undefined };
    await (await log.join(harness.name('group'), [topic], handler))[Symbol.asyncDispose]();
    await harness.expire();
    expect(await keysOf(log, topic)).toEqual(['a', 'b']);
  });
});
