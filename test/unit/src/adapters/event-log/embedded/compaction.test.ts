import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { minuteMs } from '#kernel/time.ts';
import type { EventLog, Message, ReadMessage } from '#ports/event-log.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keysOf, message, placed, position, readAll, textOf } from '#test/support/worlds/log.ts';

const policy = {
  policy: 'compact',
  minLagMs: 10 * minuteMs,
  maxLagMs: 20 * minuteMs,
  tombstoneMs: 30 * minuteMs,
} as const;

const at = (minute: number, key: string, value: string | null = key): Message => ({
  ...message(key, value),
  timestamp: minute * minuteMs,
});

async function openLog() {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryFolder());
  const options = { directory, cleanEveryMs: 10 ** 9 };
  const embedded = stack.use(await openEmbeddedLog(options));
  await embedded.log.ensureTopics([{ name: 't', partitions: 1, cleanup: policy }]);
  const opened = stack.move();
  return {
    log: embedded.log,
    clean: (minute: number) => embedded.maintenance.clean({ now: minute * minuteMs }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const append = (log: EventLog, ...messages: Message[]) => log.append([placed('t', 0, ...messages)]);

describe('compaction', () => {
  it('leaves what is younger than the minimal lag, and what only that supersedes', async () => {
    await using opened = await openLog();
    const { log, clean } = opened;
    await append(log, at(0, 'a', '1'), at(0, 'b', '1'), at(0, 'a', '2'));
    await append(log, at(5, 'a', '3'), at(5, 'c', '1'), at(5, 'c', '2'));
    await clean(12);
    expect((await readAll(log, 't')).map(textOf)).toEqual(['1', '2', '3', '1', '2']);
    await clean(20);
    expect((await readAll(log, 't')).map((one) => `${one.key}${textOf(one)}`)).toEqual([
      ...['b1', 'a3', 'c2'],
    ]);
  });

  it('waits until enough is new, but no longer than the maximal lag', async () => {
    await using opened = await openLog();
    const { log, clean } = opened;
    await append(log, ...Array.from({ length: 50 }, (_, i) => at(0, String(i))));
    await clean(15);
    await append(log, at(20, '0'));
    await clean(35);
    expect(await readAll(log, 't')).toHaveLength(51);
    await clean(40);
    expect(await readAll(log, 't')).toHaveLength(50);
  });

  it('keeps a tombstone for its time after it took effect', async () => {
    await using opened = await openLog();
    const { log, clean } = opened;
    await append(log, at(0, 'a'), at(0, 'b'), at(1, 'a', null));
    await clean(100);
    expect((await readAll(log, 't')).map((one) => [one.key, textOf(one)])).toEqual([
      ['b', 'b'],
      ['a', null],
    ]);
    await clean(129);
    expect(await keysOf(log, 't')).toEqual(['b', 'a']);
    await clean(130);
    expect(await keysOf(log, 't')).toEqual(['b']);
  });

  it('does not disturb a reader that is in the middle of a partition', async () => {
    await using opened = await openLog();
    const { log, clean } = opened;
    const keys = Array.from({ length: 3_000 }, (_, i) => String(i % 100));
    for (let from = 0; from < 3_000; from += 250) {
      await append(log, ...keys.slice(from, from + 250).map((key) => at(0, key)));
    }
    const end = await log.endOffset('t', 0);
    const read: ReadMessage[] = [];
    let next = 0;
    for await (const batch of log.read(position('t'), { maxBytes: 200 })) {
      read.push(...batch.messages);
      if (next === 0) await clean(100);
      ({ next } = batch);
    }
    expect(next).toBe(end);
    const offsets = read.map(({ offset }) => offset);
    expect(offsets).toEqual([...new Set(offsets)].sort((a, b) => a - b));
    expect(new Set(read.filter(({ offset }) => offset >= 2_900).map(({ key }) => key)).size).toBe(
      100,
    );
  });

  it('agrees with a plain model, whatever comes in between', { timeout: 60_000 }, async () => {
    const random = seeded(seedOfRun());
    const why = `SVC_TEST_SEED=${random.seed}`;
    await using opened = await openLog();
    const { log, clean } = opened;
    const latest = new Map<string, string | null>();
    let minute = 0;
    for (let step = 0; step < 120; step++) {
      const messages = Array.from({ length: 1 + random.int(40) }, () => {
        const key = String(random.int(60));
        const value = random.chance(20) ? null : `${step}`.repeat(1 + random.int(50));
        latest.set(key, value);
        return at(minute, key, value);
      });
      await append(log, ...messages);
      minute += random.int(8);
      if (random.chance(30)) await clean(minute);
      // A state restored from the log is right at any time.
      const restored = new Map((await readAll(log, 't')).map((one) => [one.key, textOf(one)]));
      const live = (map: Map<string, string | null>) =>
        Object.fromEntries([...map].filter(([, value]) => value !== null));
      expect(live(restored), why).toEqual(live(latest));
    }
    await clean(minute + 1_000);
    await clean(minute + 2_000);
    const left = (await readAll(log, 't')).map(({ key }) => key).sort();
    const alive = [...latest].filter(([, value]) => value !== null).map(([key]) => key);
    expect(left, why).toEqual(alive.sort());
  });
});

describe('a damaged batch', () => {
  it('stops the compaction of its partition, which says so, and is not rewritten', async () => {
    await using folder = await temporaryFolder();
    const failed = Promise.withResolvers<string>();
    const options = { directory: folder.path, cleanEveryMs: 10, onCleanFailure: failed.resolve };
    {
      await using embedded = await openEmbeddedLog({ ...options, cleanEveryMs: 10 ** 9 });
      await embedded.log.ensureTopics([{ name: 't', partitions: 1, cleanup: policy }]);
      await append(embedded.log, at(0, 'a', '1'), at(0, 'b'), at(0, 'a', '2'));
    }
    const db = new DatabaseSync(join(folder.path, 'log.sqlite'));
    db.exec('UPDATE batches SET crc = crc + 1');
    db.close();
    await using embedded = await openEmbeddedLog(options);
    expect(await failed.promise).toContain('corrupt');
    await expect(keysOf(embedded.log, 't')).rejects.toMatchObject({ code: 'log_corrupt' });
  });
});

describe('a group that is forgotten', () => {
  it('holds retention back no longer', async () => {
    await using folder = await temporaryFolder();
    await using embedded = await openEmbeddedLog({ directory: folder.path, cleanEveryMs: 10 ** 9 });
    const { log, maintenance } = embedded;
    const cleanup = { policy: 'delete', retentionMs: minuteMs } as const;
    await log.ensureTopics([{ name: 't', partitions: 1, cleanup }]);
    await append(log, at(0, 'a'));
    await log.commit({ group: 'g', positions: [position('t', 0, 0)] });
    await maintenance.clean({ now: 10 * minuteMs });
    expect(await keysOf(log, 't')).toEqual(['a']);
    await maintenance.forgetGroup('g');
    await maintenance.clean({ now: 10 * minuteMs });
    expect(await keysOf(log, 't')).toEqual([]);
    expect([...(await log.committed('g', 't'))]).toEqual([]);
  });
});
