import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { readOnlyLog } from '#app/process/read-only.ts';
import type { EventLog, TopicSpec } from '#ports/event-log.ts';

const topic = 'a.topic';
const spec = (more: Partial<TopicSpec> = {}): TopicSpec => ({
  name: topic,
  partitions: 2,
  cleanup: { policy: 'none' },
  ...more,
});
const placed = {
  topic,
  partition: 1,
  messages: [{ key: 'k', value: Buffer.from('v'), headers: {} }],
};

describe('the log of a process that only reads', () => {
  let folder: string;
  let embedded: Awaited<ReturnType<typeof openEmbeddedLog>>;
  let log: EventLog;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-read-only-'));
    embedded = await openEmbeddedLog({ directory: folder });
    await embedded.log.ensureTopics([spec()]);
    await embedded.log.append([placed]);
    log = readOnlyLog(embedded.log);
  });
  afterAll(async () => {
    await embedded[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const position = { topic, partition: 1, offset: 1 };
  const handler = { assigned: () => undefined, revoked: () => undefined };
  it.each<[string, () => Promise<unknown>]>([
    ['messages', () => log.append([placed])],
    ['a writer', () => log.openWriter('name')],
    ['a member of a group', () => log.join('group', [topic], handler)],
    ['the position of a group', () => log.commit({ group: 'group', positions: [position] })],
    ['a deletion', () => log.deleteBefore(position)],
  ])('refuses %s', async (_what, write) => {
    const before = await embedded.log.endOffsets(topic);
    await expect(write()).rejects.toMatchObject({ code: 'read_only', status: 503 });
    expect(await embedded.log.endOffsets(topic)).toEqual(before);
    expect(await embedded.log.startOffset(topic, 1)).toBe(0);
    expect(await embedded.log.committed('group', topic)).toEqual(new Map());
  });

  it('reads what is there', async () => {
    const read: string[] = [];
    for await (const { messages } of log.read({ topic, partition: 1, offset: 0 })) {
      read.push(...messages.map(({ key }) => key));
    }
    expect(read).toEqual(['k']);
  });

  it('makes no topic', async () => {
    await log.ensureTopics([spec()]);
    await expect(log.ensureTopics([spec({ name: 'other' })])).rejects.toMatchObject({
      code: 'unknown_topic',
    });
    await expect(log.ensureTopics([spec({ partitions: 4 })])).rejects.toMatchObject({
      code: 'conflict',
    });
    await expect(embedded.log.partitions('other')).rejects.toMatchObject({ code: 'unknown_topic' });
  });
});
