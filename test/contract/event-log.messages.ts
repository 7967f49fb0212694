import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  collect,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
  readAll,
  textOf,
} from '#test/support/worlds/log.ts';
import type { EventLogHarness } from './event-log.contract.ts';

/** What is appended is what is read. */
export function messageContract(harness: EventLogHarness): void {
  describe('topics', () => {
    it('are made once and may be asked for again', async () => {
      await using log = await harness.open();
      const topic = keptTopic(harness.name('again'), 3);
      await log.ensureTopics([topic]);
      await log.ensureTopics([topic]);
      expect(await log.partitions(topic.name)).toBe(3);
    });

    it('are never altered: other partitions or another cleanup are a conflict', async () => {
      await using log = await harness.open();
      const topic = keptTopic(harness.name('altered'), 2);
      await log.ensureTopics([topic]);
      const conflict = { code: 'conflict' };
      await expect(log.ensureTopics([{ ...topic, partitions: 3 }])).rejects.toMatchObject(conflict);
      const cleanup = { policy: 'delete', retentionMs: 86_400_000 } as const;
      await expect(log.ensureTopics([{ ...topic, cleanup }])).rejects.toMatchObject(conflict);
      expect(await log.partitions(topic.name)).toBe(2);
    });

    it('that nobody made are unknown to every call', async () => {
      await using log = await harness.open();
      const topic = harness.name('unknown');
      const unknown = { code: 'unknown_topic' };
      await expect(log.partitions(topic)).rejects.toMatchObject(unknown);
      await expect(log.append([placed(topic, 0, message('a'))])).rejects.toMatchObject(unknown);
      await expect(readAllLater(log, topic)).rejects.toMatchObject(unknown);
    });
  });

  describe('messages', () => {
    it('come back in order with key, value, headers and time', async () => {
      await using log = await harness.open();
      const topic = harness.name('whole');
      await log.ensureTopics([keptTopic(topic)]);
      const timestamp = Date.now() - 5_000;
      const sent = [
        { ...message('käse/1', 'ü', { ce_type: 'a', other: 'ö' }), timestamp },
        { ...message('b', 'two', { ce_type: 'b', more: '' }), timestamp: timestamp + 1 },
        { ...message('c', 'three'), timestamp: timestamp + 2 },
      ];
      await log.append([placed(topic, 0, ...sent)]);
      await harness.settle();
      const read = await readAll(log, topic);
      expect(
        read.map(({ key, headers, timestamp: at }) => ({ key, headers, timestamp: at })),
      ).toEqual(sent.map(({ key, headers, timestamp: at }) => ({ key, headers, timestamp: at })));
      expect(read.map(textOf)).toEqual(['ü', 'two', 'three']);
    });

    it('get the time of the log when they bring none', async () => {
      await using log = await harness.open();
      const topic = harness.name('timed');
      await log.ensureTopics([keptTopic(topic)]);
      const before = Date.now();
      await log.append([placed(topic, 0, message('a'))]);
      const after = Date.now();
      await harness.settle();
      const [read] = await readAll(log, topic);
      expect(read!.timestamp).toBeGreaterThanOrEqual(before);
      expect(read!.timestamp).toBeLessThanOrEqual(after);
    });

    it('distinguish a tombstone from an empty value', async () => {
      await using log = await harness.open();
      const topic = harness.name('empty');
      await log.ensureTopics([keptTopic(topic)]);
      await log.append([placed(topic, 0, message('a', ''), message('b', null), message('c', 'c'))]);
      await harness.settle();
      expect((await readAll(log, topic)).map(textOf)).toEqual(['', null, 'c']);
    });

    it('may differ in their headers within one batch', async () => {
      await using log = await harness.open();
      const topic = harness.name('headers');
      await log.ensureTopics([keptTopic(topic)]);
      const headers = [
        { a: '1', b: '2' },
        { b: '2', a: '1' },
        {},
        { a: '1' },
        { a: '9', b: '2' },
        {},
      ];
      await log.append([
        placed(topic, 0, ...headers.map((one, i) => message(String(i), 'v', one))),
      ]);
      await harness.settle();
      expect((await readAll(log, topic)).map((read) => read.headers)).toEqual(headers);
    });

    it('may be large: 4 MB that do not compress', async () => {
      await using log = await harness.open();
      const topic = harness.name('large');
      await log.ensureTopics([keptTopic(topic)]);
      const large = randomBytes(4 * 1024 ** 2);
      await log.append([placed(topic, 0, message('a'), { key: 'big', value: large, headers: {} })]);
      await log.append([placed(topic, 0, message('z'))]);
      await harness.settle();
      const read = await readAll(log, topic);
      expect(read.map(({ key }) => key)).toEqual(['a', 'big', 'z']);
      expect(large.equals(read[1]!.value!)).toBe(true);
    });

    it('of one call are contiguous and in order while others append', async () => {
      await using one = await harness.open();
      await using two = await harness.open();
      const topic = harness.name('contiguous');
      await one.ensureTopics([keptTopic(topic)]);
      const calls = Array.from({ length: 40 }, (_, call) => {
        const messages = Array.from({ length: 5 }, (_, i) => message(`${call}/${i}`));
        return (call % 2 === 0 ? one : two).append([placed(topic, 0, ...messages)]);
      });
      await Promise.all(calls);
      await harness.settle();
      const keys = await keysOf(one, topic);
      expect(keys).toHaveLength(200);
      for (let at = 0; at < keys.length; at += 5) {
        const [call] = keys[at]!.split('/');
        expect(keys.slice(at, at + 5)).toEqual([0, 1, 2, 3, 4].map((i) => `${call}/${i}`));
      }
    });

    it('are where the answer says, in every partition of the call', async () => {
      await using log = await harness.open();
      const topic = harness.name('placed');
      await log.ensureTopics([keptTopic(topic, 2)]);
      await log.append([placed(topic, 1, message('before'))]);
      const batch = [placed(topic, 0, message('a'), message('b')), placed(topic, 1, message('c'))];
      const places = await log.append(batch);
      await harness.settle();
      expect(places.map(({ partition }) => partition)).toEqual([0, 1]);
      expect(await keysAt(log, places[0]!)).toEqual(['a', 'b']);
      expect(await keysAt(log, places[1]!)).toEqual(['c']);
      expect(await keysOf(log, topic, 1)).toEqual(['before', 'c']);
    });

    it('are there after the log was stopped and started', async () => {
      const topic = harness.name('restarted');
      {
        await using log = await harness.open();
        await log.ensureTopics([keptTopic(topic, 2)]);
        await log.append([placed(topic, 1, message('a'), message('b'))]);
        await harness.settle();
      }
      await harness.restart();
      await using log = await harness.open();
      expect(await log.partitions(topic)).toBe(2);
      await log.append([placed(topic, 1, message('c'))]);
      await harness.settle();
      expect(await keysOf(log, topic, 1)).toEqual(['a', 'b', 'c']);
    });
  });
}

async function readAllLater(log: Parameters<typeof readAll>[0], topic: string): Promise<void> {
  await readAll(log, topic);
}

async function keysAt(
  log: Parameters<typeof readAll>[0],
  { topic, partition, offset }: ReturnType<typeof position>,
): Promise<string[]> {
  return (await collect(log.read({ topic, partition, offset }))).map(({ key }) => key);
}
