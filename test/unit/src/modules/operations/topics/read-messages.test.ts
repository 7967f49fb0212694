import { describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { newestMessages, oldestMessages } from '#modules/operations/topics/read-messages.ts';
import type { Batch, EventLog, Position, ReadMessage } from '#ports/event-log.ts';

/** One partition with messages at these offsets alone; counts what is read of it. */
function logWith(offsets: readonly number[], end: number, bytes = 1) {
  const value = Buffer.alloc(bytes);
  const all = offsets.map((offset): ReadMessage => ({
    offset,
    key: `k${offset}`,
    value,
    headers: {},
    timestamp: offset,
  }));
  const read = { messages: 0 };
  const log: Pick<EventLog, 'read'> = {
    async *read({ topic, partition, offset }: Position): AsyncGenerator<Batch> {
      const left = all.filter((message) => message.offset >= offset);
      for (let at = 0; at < left.length; at += 10) {
        const messages = left.slice(at, at + 10);
        read.messages += messages.length;
        const next = left[at + 10]?.offset ?? end;
        yield await Promise.resolve({ topic, partition, messages, next });
      }
    },
  };
  return { log, read, stretch: { topic: 't', partition: 0, from: 0, to: end } };
}

const open = new AbortController().signal;
const all = { isWanted: () => true, signal: open };
const offsetsOf = (page: { readonly messages: readonly ReadMessage[] }) =>
  page.messages.map(({ offset }) => offset);

describe('the newest messages', () => {
  it('are found behind a gap that compaction left, without reading the partition', async () => {
    const dense = Array.from({ length: 5_000 }, (_, at) => at);
    const { log, read, stretch } = logWith(dense, 10_000_000);
    const page = await newestMessages(log, [stretch], { ...all, limit: 3 });
    expect(offsetsOf(page)).toEqual([4_999, 4_998, 4_997]);
    expect(page.rest).toEqual([{ ...stretch, to: 4_997 }]);
    expect(read.messages).toBeLessThan(20_000);
  });

  it('are one at a time where each is larger than a page', async () => {
    const large = limits.topicMessagesBytesMax * 2;
    const { log, stretch } = logWith([0, 5, 9], 20, large);
    const page = await newestMessages(log, [stretch], { ...all, limit: 50 });
    expect(offsetsOf(page)).toEqual([9]);
    const next = await newestMessages(log, page.rest, { ...all, limit: 50 });
    expect(offsetsOf(next)).toEqual([5]);
  });

  it('end the search when the time is over, and the next page goes on', async () => {
    const { log, stretch } = logWith(
      Array.from({ length: 100 }, (_, at) => at),
      100,
    );
    const late = {
      isWanted: ({ offset }: ReadMessage) => offset === 3,
      signal: AbortSignal.abort(),
    };
    let rest = [stretch] as readonly (typeof stretch)[];
    const found: number[] = [];
    let pages = 0;
    for (; rest[0]!.from < rest[0]!.to; pages += 1) {
      const page = await newestMessages(log, rest, { ...late, limit: 10 });
      found.push(...offsetsOf(page));
      rest = page.rest;
    }
    expect(found).toEqual([3]);
    expect(pages).toBe(10);
  });
});

describe('the oldest messages', () => {
  it('end the search when the time is over, and the next page goes on', async () => {
    const { log, stretch } = logWith([1, 2, 50], 60);
    const late = {
      isWanted: ({ offset }: ReadMessage) => offset === 50,
      signal: AbortSignal.abort(),
    };
    const page = await oldestMessages(log, [stretch], { ...late, limit: 10 });
    expect(offsetsOf(page)).toEqual([50]);
    expect(page.rest[0]).toMatchObject({ from: 60, to: 60 });
  });

  it('leave out what was written after the search began', async () => {
    const { log, stretch } = logWith([1, 2, 50], 60);
    const page = await oldestMessages(log, [{ ...stretch, to: 10 }], { ...all, limit: 10 });
    expect(offsetsOf(page)).toEqual([1, 2]);
    expect(page.rest[0]).toMatchObject({ from: 10, to: 10 });
  });
});
