import { describe, expect, it } from 'vitest';
import type { Batch } from '#ports/event-log.ts';
import {
  Follower,
  collect,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
  readAll,
} from '#test/support/worlds/log.ts';
import type { EventLogHarness } from './event-log.contract.ts';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => message(String(from + i)));

/** Reading to the end, following for ever, and the offsets in between. */
export function readContract(harness: EventLogHarness): void {
  async function topicWith(log: Awaited<ReturnType<EventLogHarness['open']>>, count: number) {
    const topic = harness.name('read');
    await log.ensureTopics([keptTopic(topic, 2)]);
    if (count > 0) await log.append([placed(topic, 0, ...numbered(0, count))]);
    await harness.settle();
    return topic;
  }

  describe('reading', () => {
    it('ends at once in an empty partition', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 0);
      expect(await readAll(log, topic)).toEqual([]);
      expect(await log.startOffset(topic, 0)).toBe(await log.endOffset(topic, 0));
    });

    it('gives the bounds of all partitions at once', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 7);
      await log.deleteBefore({ topic, partition: 0, offset: 3 });
      const each = (bound: 'startOffset' | 'endOffset') =>
        Promise.all([log[bound](topic, 0), log[bound](topic, 1)]);
      expect(await log.startOffsets(topic)).toEqual(await each('startOffset'));
      const ends = await log.endOffsets(topic);
      expect(ends).toEqual(await each('endOffset'));
      expect(ends[0]).toBeGreaterThan(ends[1]!);
      const unknown = harness.name('unknown');
      await expect(log.startOffsets(unknown)).rejects.toMatchObject({ code: 'unknown_topic' });
      await expect(log.endOffsets(unknown)).rejects.toMatchObject({ code: 'unknown_topic' });
    });

    it('gives ascending offsets, and batches that join up to the end', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 50);
      await log.append([placed(topic, 0, ...numbered(50, 70))]);
      await harness.settle();
      const batches: Batch[] = [];
      for await (const batch of log.read(position(topic), { maxBytes: 20 })) batches.push(batch);
      const offsets = batches.flatMap(({ messages }) => messages.map(({ offset }) => offset));
      expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
      expect(offsets).toHaveLength(70);
      for (const { messages, next } of batches) {
        for (const { offset } of messages) expect(offset).toBeLessThan(next);
      }
      expect(batches.at(-1)!.next).toBe(await log.endOffset(topic, 0));
    });

    it('keeps batches within maxBytes; a larger message comes alone', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 0);
      const sizes = [10, 10, 10, 500, 10, 10, 30, 30, 30];
      const sent = sizes.map((size, i) => message(String(i), 'x'.repeat(size)));
      await log.append([placed(topic, 0, ...sent)]);
      await harness.settle();
      const batches: string[][] = [];
      for await (const { messages } of log.read(position(topic), { maxBytes: 64 })) {
        batches.push(messages.map(({ key }) => key));
        const bytes = messages.reduce((sum, { value }) => sum + value!.length, 0);
        if (messages.length > 1) expect(bytes).toBeLessThanOrEqual(64);
      }
      expect(batches.flat()).toEqual(sent.map(({ key }) => key));
    });

    it('goes on from any offset', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 20);
      const all = await readAll(log, topic);
      for (const [i, { offset }] of all.entries()) {
        expect(await keysOf(log, topic, 0, offset)).toEqual(all.slice(i).map(({ key }) => key));
      }
    });

    it('stops at the end as it was when it began', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 10);
      const reading = log.read(position(topic), { maxBytes: 1 });
      const keys: string[] = [];
      for await (const { messages } of reading) {
        if (keys.length === 0) await log.append([placed(topic, 0, message('late'))]);
        keys.push(...messages.map(({ key }) => key));
      }
      expect(keys).toEqual(numbered(0, 10).map(({ key }) => key));
    });

    it('ends when its signal comes', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 10);
      const abort = new AbortController();
      let batches = 0;
      for await (const _ of log.read(position(topic), { maxBytes: 1, signal: abort.signal })) {
        batches++;
        abort.abort();
      }
      expect(batches).toBe(1);
    });
  });

  describe('offsets', () => {
    it('at a time are of the first message at or after it', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 0);
      const start = Date.now() - 60_000;
      for (let call = 0; call < 3; call++) {
        const messages = [0, 1, 2].map((i) => {
          const nth = call * 3 + i;
          return { ...message(String(nth)), timestamp: start + nth * 10 };
        });
        await log.append([placed(topic, 0, ...messages)]);
      }
      await harness.settle();
      const all = await readAll(log, topic);
      for (const [i, { offset, timestamp }] of all.entries()) {
        expect(await log.offsetAt(topic, 0, timestamp)).toBe(offset);
        expect(await log.offsetAt(topic, 0, timestamp - 5)).toBe(all[i]!.offset);
      }
      expect(await log.offsetAt(topic, 0, start + 1000)).toBe(await log.endOffset(topic, 0));
    });

    it('at a time before 1970 are of the first message', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 2);
      const start = await log.startOffset(topic, 0);
      for (const timestamp of [0, -1, -2, -3, -5, Date.parse('0000-01-01T00:00:00Z')])
        expect(await log.offsetAt(topic, 0, timestamp), `${timestamp}`).toBe(start);
    });

    it('of the end move with each message, those of other partitions do not', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 5);
      const before = await log.endOffset(topic, 0);
      const other = await log.endOffset(topic, 1);
      const [place] = await log.append([placed(topic, 0, message('a'))]);
      await harness.settle();
      expect(place!.offset).toBeGreaterThanOrEqual(before);
      expect(await log.endOffset(topic, 0)).toBeGreaterThan(place!.offset);
      expect(await log.endOffset(topic, 1)).toBe(other);
    });
  });

  describe('following', () => {
    it('gives what is there and then what comes', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 3);
      await using follower = new Follower(log, [position(topic)]);
      await follower.until(({ keys }) => keys.length === 3);
      await log.append([placed(topic, 0, message('3'))]);
      await follower.until(({ keys }) => keys.length === 4);
      await log.append([placed(topic, 0, message('4'), message('5'))]);
      await follower.until(({ keys }) => keys.length === 6);
      expect(follower.keys).toEqual(['0', '1', '2', '3', '4', '5']);
    });

    it('wakes for messages of another client', async () => {
      await using log = await harness.open();
      await using other = await harness.open();
      const topic = await topicWith(log, 0);
      await using follower = new Follower(log, [position(topic)]);
      for (let i = 0; i < 20; i++) {
        await other.append([placed(topic, 0, message(String(i)))]);
        await follower.until(({ keys }) => keys.length === i + 1);
      }
    });

    it('resumes where a former one ended', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 30);
      const keys: string[] = [];
      let next = 0;
      while (keys.length < 30) {
        const abort = new AbortController();
        const options = { signal: abort.signal, maxBytes: 10 };
        for await (const batch of log.follow([position(topic, 0, next)], options)) {
          keys.push(...batch.messages.map(({ key }) => key));
          ({ next } = batch);
          abort.abort();
        }
      }
      expect(keys).toEqual(numbered(0, 30).map(({ key }) => key));
    });

    it('gives each of several readers of one partition what it asked for', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 0);
      for (let n = 0; n < 8; n++) await log.append([placed(topic, 0, message(String(n)))]);
      await harness.settle();
      const all = await readAll(log, topic);
      const starts = [...all.map(({ offset }) => offset), await log.endOffset(topic, 0)];
      const followers = starts.map((offset) => new Follower(log, [position(topic, 0, offset)]));
      await log.append([placed(topic, 0, message('late'))]);
      const keys = [...all.map(({ key }) => key), 'late'];
      for (const [i, follower] of followers.entries()) {
        await follower.until((one) => one.keys.includes('late'));
        expect(follower.keys).toEqual(keys.slice(i));
        await follower[Symbol.asyncDispose]();
      }
    });

    it('merges partitions and topics, each in its order, none starved', async () => {
      await using log = await harness.open();
      const topics = [await topicWith(log, 200), await topicWith(log, 200)];
      for (const topic of topics) await log.append([placed(topic, 1, ...numbered(0, 200))]);
      await harness.settle();
      const from = topics.flatMap((topic) => [position(topic, 0), position(topic, 1)]);
      await using follower = new Follower(log, from, { maxBytes: 30 });
      await follower.until(({ messages }) => messages.length === 800);
      for (const { topic, partition } of from) {
        const own = follower.batches.filter((b) => b.topic === topic && b.partition === partition);
        expect(own.flatMap(({ messages }) => messages.map(({ key }) => key))).toEqual(
          numbered(0, 200).map(({ key }) => key),
        );
      }
      const places = follower.batches.slice(0, 40).map((b) => `${b.topic}/${b.partition}`);
      expect(new Set(places).size).toBe(4);
    });

    it('ends when its signal comes, also while it waits', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 0);
      const abort = new AbortController();
      const ended = collect(log.follow([position(topic)], { signal: abort.signal }));
      await log.append([placed(topic, 1, message('elsewhere'))]);
      abort.abort();
      expect(await ended).toEqual([]);
    });

    it('with a signal that came before gives nothing', async () => {
      await using log = await harness.open();
      const topic = await topicWith(log, 3);
      const options = { signal: AbortSignal.abort() };
      expect(await collect(log.follow([position(topic)], options))).toEqual([]);
    });
  });
}
