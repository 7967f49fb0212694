import { describe, expect, it } from 'vitest';
import { HoldingMember, keptTopic, position } from '#test/support/worlds/log.ts';
import type { EventLogHarness } from './event-log.contract.ts';

/** Committed positions, and partition numbers spread over members. */
export function groupContract(harness: EventLogHarness): void {
  describe('the positions of a group', () => {
    it('are what was committed last, by partition; others are absent', async () => {
      await using log = await harness.open();
      const topic = harness.name('positions');
      const group = harness.name('group');
      await log.ensureTopics([keptTopic(topic, 3)]);
      expect([...(await log.committed(group, topic))]).toEqual([]);
      await log.commit({ group, positions: [position(topic, 0, 4), position(topic, 2, 6)] });
      await log.commit({ group, positions: [position(topic, 0, 5)] });
      const committed = await log.committed(group, topic);
      expect([...committed].sort(([a], [b]) => a - b)).toEqual([
        [0, 5],
        [2, 6],
      ]);
      expect([...(await log.committed(harness.name('group'), topic))]).toEqual([]);
    });

    it('are there after the log was stopped and started', async () => {
      const topic = harness.name('positions');
      const group = harness.name('group');
      {
        await using log = await harness.open();
        await log.ensureTopics([keptTopic(topic)]);
        await log.commit({ group, positions: [position(topic, 0, 4)] });
      }
      await harness.restart();
      await using log = await harness.open();
      expect([...(await log.committed(group, topic))]).toEqual([[0, 4]]);
    });
  });

  describe('the members of a group', () => {
    const all = (partitions: number) => Array.from({ length: partitions }, (_, i) => i);
    const union = (...members: HoldingMember[]) =>
      members.flatMap(({ held }) => [...held]).sort((a, b) => a - b);

    it('hold everything when alone, and give it back when they leave', async () => {
      await using log = await harness.open();
      const topic = harness.name('joined');
      await log.ensureTopics([keptTopic(topic, 4)]);
      const member = new HoldingMember();
      {
        await using _ = await log.join(harness.name('group'), [topic], member);
        await HoldingMember.until(() => member.held.size === 4);
        expect(union(member)).toEqual(all(4));
      }
      expect(member.held.size).toBe(0);
    });

    it('share the numbers evenly, each with one holder, and keep what they can', async () => {
      await using log = await harness.open();
      await using other = await harness.open();
      const topics = [harness.name('joined'), harness.name('joined')];
      const group = harness.name('group');
      await log.ensureTopics(topics.map((topic) => keptTopic(topic, 7)));
      const [first, second] = [new HoldingMember(), new HoldingMember()];
      await using _a = await log.join(group, topics, first);
      await HoldingMember.until(() => first.held.size === 7);
      await using _b = await other.join(group, topics, second);
      await HoldingMember.until(() => union(first, second).length === 7 && second.held.size === 3);
      expect(union(first, second)).toEqual(all(7));
      expect(first.held.size).toBe(4);
    });

    it('get what a member that leaves had, with a later generation', async () => {
      await using log = await harness.open();
      await using other = await harness.open();
      const topic = harness.name('joined');
      const group = harness.name('group');
      await log.ensureTopics([keptTopic(topic, 4)]);
      const [first, second] = [new HoldingMember(), new HoldingMember()];
      await using _a = await log.join(group, [topic], first);
      await HoldingMember.until(() => first.held.size === 4);
      const leaving = await other.join(group, [topic], second);
      await HoldingMember.until(() => first.held.size === 2 && second.held.size === 2);
      await leaving[Symbol.asyncDispose]();
      await HoldingMember.until(() => first.held.size === 4);
      expect(second.held.size).toBe(0);
      expect(first.generations.at(-1)).toBeGreaterThan(first.generations[0]!);
    });

    it('get a number only when its holder has ended its work', async () => {
      await using log = await harness.open();
      await using other = await harness.open();
      const topic = harness.name('joined');
      const group = harness.name('group');
      await log.ensureTopics([keptTopic(topic, 2)]);
      const [first, second] = [new HoldingMember(), new HoldingMember()];
      const ended = Promise.withResolvers<undefined>();
      first.onRevoked = () => ended.promise;
      await using _a = await log.join(group, [topic], first);
      await HoldingMember.until(() => first.held.size === 2);
      await using _b = await other.join(group, [topic], second);
      await HoldingMember.until(() => first.calls.some((call) => call.startsWith('-')));
      // A round trip later it would be there.
      await other.commit({ group, positions: [position(topic, 0, 0)] });
      expect(second.held.size).toBe(0);
      ended.resolve(undefined);
      await HoldingMember.until(() => second.held.size === 1 && first.held.size === 1);
      expect(union(first, second)).toEqual([0, 1]);
      first.onRevoked = () => Promise.resolve();
    });

    it('of different groups do not share', async () => {
      await using log = await harness.open();
      const topic = harness.name('joined');
      await log.ensureTopics([keptTopic(topic, 2)]);
      const [first, second] = [new HoldingMember(), new HoldingMember()];
      await using _a = await log.join(harness.name('group'), [topic], first);
      await using _b = await log.join(harness.name('group'), [topic], second);
      await HoldingMember.until(() => first.held.size === 2 && second.held.size === 2);
    });
  });
}
