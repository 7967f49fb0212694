import { describe, expect, it } from 'vitest';
import type { Cleanup, EventLog } from '#ports/event-log.ts';
import {
  Follower,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
  readAll,
  textOf,
} from '#test/support/worlds/log.ts';
import type { EventLogHarness } from './event-log.contract.ts';

const compacted: Cleanup = { policy: 'compact', minLagMs: 0, maxLagMs: 1_000, tombstoneMs: 1_000 };

/** What is removed, and what never is. */
export function cleanupContract(harness: EventLogHarness): void {
  async function topicWith(log: EventLog, cleanup: Cleanup, keys: readonly string[]) {
    const topic = harness.name('cleaned');
    await log.ensureTopics([{ name: topic, partitions: 1, cleanup }]);
    for (const [i, key] of keys.entries()) {
      const value = key.startsWith('-') ? null : String(i);
      await log.append([placed(topic, 0, message(key.replace('-', ''), value))]);
    }
    await harness.settle();
    return topic;
  }

  describe('deleteBefore', () => {
    it('moves the start; readers from before it begin there', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, { policy: 'none' }, ['a', 'b', 'c', 'd']);
      const { offset } = (await readAll(log, topic))[2]!;
      await log.deleteBefore(position(topic, 0, offset));
      await harness.settle();
      expect(await log.startOffset(topic, 0)).toBe(offset);
      expect(await keysOf(log, topic)).toEqual(['c', 'd']);
      await using follower = new Follower(log, [position(topic)]);
      await follower.until(({ keys }) => keys.length === 2);
      expect(follower.keys).toEqual(['c', 'd']);
    });

    it('of everything leaves an empty partition that counts on', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, { policy: 'none' }, ['a', 'b']);
      const end = await log.endOffset(topic, 0);
      await log.deleteBefore(position(topic, 0, end));
      await harness.settle();
      expect(await readAll(log, topic)).toEqual([]);
      expect(await log.startOffset(topic, 0)).toBe(end);
      const [place] = await log.append([placed(topic, 0, message('c'))]);
      await harness.settle();
      expect(place!.offset).toBeGreaterThanOrEqual(end);
      expect(await keysOf(log, topic)).toEqual(['c']);
    });

    it('gives a follower its next offset, though no message is left', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, { policy: 'none' }, ['a', 'b']);
      const end = await log.endOffset(topic, 0);
      await log.deleteBefore(position(topic, 0, end));
      await harness.settle();
      await using follower = new Follower(log, [position(topic)]);
      await follower.until(({ batches }) => batches.some(({ next }) => next >= end));
      expect(follower.messages).toEqual([]);
    });

    it('never goes back', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, { policy: 'none' }, ['a', 'b', 'c']);
      const { offset } = (await readAll(log, topic))[2]!;
      await log.deleteBefore(position(topic, 0, offset));
      await log.deleteBefore(position(topic, 0, 0));
      await harness.settle();
      expect(await keysOf(log, topic)).toEqual(['c']);
    });
  });

  describe('compaction', () => {
    it('keeps the last message of each key, in order, at its offset', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, compacted, []);
      const offsets: number[] = [];
      for (const key of ['a', 'b', 'a', 'c', 'b', 'a']) {
        const [place] = await log.append([placed(topic, 0, message(key, String(offsets.length)))]);
        offsets.push(place!.offset);
      }
      await harness.settle();
      await harness.compact();
      const left = await readAll(log, topic);
      expect(left.map((read) => [read.key, textOf(read), read.offset])).toEqual([
        ['c', '3', offsets[3]],
        ['b', '4', offsets[4]],
        ['a', '5', offsets[5]],
      ]);
    });

    it('removes a deleted key, then its tombstone; the end stays reachable', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, compacted, ['a', 'b', '-a', '-b']);
      const end = await log.endOffset(topic, 0);
      await harness.compact();
      await harness.compact();
      expect(await keysOf(log, topic)).toEqual([]);
      expect(await log.endOffset(topic, 0)).toBeGreaterThanOrEqual(end);
      await using follower = new Follower(log, [position(topic)]);
      await follower.until(({ batches }) => batches.some(({ next }) => next >= end));
      expect(follower.messages).toEqual([]);
    });

    it('goes on over what was compacted before', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, compacted, ['a', 'b', 'a']);
      await harness.compact();
      await log.append([placed(topic, 0, message('b', 'new'), message('c', 'new'))]);
      await harness.compact();
      const left = await readAll(log, topic);
      expect(left.map((read) => [read.key, textOf(read)])).toEqual([
        ['a', '2'],
        ['b', 'new'],
        ['c', 'new'],
      ]);
    });

    it('touches no topic of another policy', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, { policy: 'none' }, ['a', 'a', '-a']);
      await harness.compact();
      expect(await keysOf(log, topic)).toEqual(['a', 'a', 'a']);
    });
  });

  describe('retention', () => {
    const daily: Cleanup = { policy: 'delete', retentionMs: 86_400_000 };

    it('removes what is older', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, daily, ['a', 'b']);
      const kept = await topicWith(log, { policy: 'none' }, ['a', 'b']);
      await harness.expire();
      expect(await keysOf(log, topic)).toEqual([]);
      expect(await keysOf(log, kept)).toEqual(['a', 'b']);
      expect(await log.startOffset(topic, 0)).toBe(await log.endOffset(topic, 0));
    });

    it('of a topic that is kept removes nothing', async () => {
      await using log = await harness.open();
      const topic = harness.name('kept');
      await log.ensureTopics([keptTopic(topic)]);
      await log.append([placed(topic, 0, { ...message('old'), timestamp: 1 })]);
      await harness.expire();
      expect(await keysOf(log, topic)).toEqual(['old']);
    });
  });
}
