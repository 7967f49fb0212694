import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EventLog, TransactionalWriter } from '#ports/event-log.ts';
import { startKafka } from '#test/services/kafka.ts';
import type { Service } from '#test/services/service.ts';
import { ownPrefix } from '#test/services/url.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { startChild } from '#test/support/processes/child.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import {
  Condition,
  Follower,
  HoldingMember,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
} from '#test/support/worlds/log.ts';

let kafka: Service;
beforeAll(async () => {
  kafka = await startKafka();
});
afterAll(() => kafka.stop());

const prefix = ownPrefix();
const open = async (): Promise<EventLog> => (await openTestLog(kafka.url, { prefix })).log;
let names = 0;

async function newTopic(log: EventLog, partitions = 1): Promise<string> {
  const topic = `faults-${++names}`;
  await log.ensureTopics([keptTopic(topic, partitions)]);
  return topic;
}

/** The transaction of the last commit may still be on its way to readers. */
async function keysUntil(log: EventLog, topic: string, last: string): Promise<string[]> {
  for (;;) {
    const keys = await keysOf(log, topic);
    if (keys.includes(last)) return keys;
    await sleep(5);
  }
}

/** Counts what was acknowledged. */
class Progress {
  readonly #condition = new Condition();
  #count = 0;

  add(): void {
    this.#count++;
    this.#condition.changed();
  }

  /** Resolves when so many more were acknowledged. */
  async more(count: number): Promise<void> {
    const enough = this.#count + count;
    await this.#condition.until(() => this.#count >= enough);
  }
}

/** On a busy machine a broker takes more than half a minute to start. */
const patiently = { timeoutMs: 120_000 };

/** How often each test kills the broker. */
const kills = Number(process.env['SVC_TEST_KILLS'] ?? 2);
const killsTimeoutMs = 120_000 + kills * 30_000;

/** Kills the broker while work is under way, and starts it again, after random progress. */
async function outages(random: ReturnType<typeof seeded>, progress: Progress): Promise<void> {
  for (let round = 0; round < kills; round++) {
    await progress.more(1 + random.int(60));
    await kafka.kill();
    await kafka.restart();
  }
  await progress.more(20);
}

describe('a broker that is killed and comes back', () => {
  it(
    'has lost and doubled none of the appends, and readers go on',
    async () => {
      const random = seeded(seedOfRun());
      await using log = await open();
      const topic = await newTopic(log, 3);
      const places = [0, 1, 2].map((partition) => position(topic, partition));
      await using follower = new Follower(log, places);
      const member = new HoldingMember();
      await using _ = await log.join(`group-${topic}`, [topic], member);
      const progress = new Progress();
      let isOver = false;
      const appenders = Array.from({ length: 6 }, async (_, appender) => {
        const acknowledged: string[] = [];
        for (let nth = 0; !isOver; nth++) {
          const key = `${appender}/${nth}`;
          await log.append([placed(topic, appender % 3, message(key))], patiently);
          acknowledged.push(key);
          progress.add();
        }
        return acknowledged;
      });
      await outages(random, progress);
      isOver = true;
      const acknowledged = await Promise.all(appenders);
      const why = `SVC_TEST_SEED=${random.seed}`;
      await follower.until(({ keys }) => keys.length >= acknowledged.flat().length);
      for (const [appender, keys] of acknowledged.entries()) {
        const own = (key: string) => key.startsWith(`${appender}/`);
        expect((await keysOf(log, topic, appender % 3)).filter(own), why).toEqual(keys);
        expect(follower.keys.filter(own), why).toEqual(keys);
      }
      await HoldingMember.until(() => member.held.size === 3);
      console.log(`${kills} kills, ${acknowledged.flat().length} appends, ${why}`);
    },
    killsTimeoutMs,
  );

  it(
    'has lost and doubled none of the commits, and moved positions with them',
    async () => {
      const random = seeded(seedOfRun());
      const why = `SVC_TEST_SEED=${random.seed}`;
      await using log = await open();
      const topic = await newTopic(log, 2);
      const group = `group-${topic}`;
      const state: { writer: TransactionalWriter } = { writer: await log.openWriter('faults') };
      const known = new Map<string, 'yes' | 'unknown'>();
      let last = 0;
      const progress = new Progress();
      let isOver = false;
      const writing = (async () => {
        for (let nth = 1; !isOver; nth++) {
          const batch = [0, 1].map((partition) => placed(topic, partition, message(String(nth))));
          try {
            await state.writer.commit(batch, { group, positions: [position(topic, 0, nth)] });
            known.set(String(nth), 'yes');
            last = nth;
            progress.add();
          } catch (error) {
            expect(error).toMatchObject({ code: 'log_unavailable' });
            known.set(String(nth), 'unknown');
            await state.writer[Symbol.asyncDispose]();
            state.writer = await log.openWriter('faults');
          }
        }
      })();
      await outages(random, progress);
      isOver = true;
      await writing;
      const keys = await keysUntil(log, topic, String(last));
      expect(await keysOf(log, topic, 1), why).toEqual(keys);
      expect(new Set(keys).size, why).toBe(keys.length);
      const shown = [...known.keys()].filter(
        (key) => known.get(key) === 'yes' || keys.includes(key),
      );
      expect(keys, why).toEqual(shown);
      expect((await log.committed(group, topic)).get(0), why).toBe(last);
      await state.writer[Symbol.asyncDispose]();
      const unknown = [...known.values()].filter((one) => one === 'unknown').length;
      console.log(`${kills} kills, ${known.size} commits (${unknown} without an answer), ${why}`);
    },
    killsTimeoutMs,
  );

  it('keeps topics, messages and positions; that it was away is logged once, for all groups', async () => {
    const said: string[] = [];
    const note = (_: object, sentence: string): void => void said.push(sentence);
    const logger = { info: note, warn: note };
    await using opened = await openTestLog(kafka.url, { prefix, logger });
    const { log } = opened;
    const topic = await newTopic(log, 2);
    await log.append([placed(topic, 1, message('a'))]);
    await log.commit({ group: 'kept', positions: [position(topic, 1, 1)] });
    for (let group = 0; group < 10; group++) {
      await log.join(`group-${topic}-${group}`, [topic], new HoldingMember());
    }
    await kafka.kill();
    const waiting = [0, 1].map((partition) =>
      log.append([placed(topic, partition, message('b'))], patiently),
    );
    await kafka.restart();
    await Promise.all(waiting);
    expect(await log.partitions(topic)).toBe(2);
    expect(await keysOf(log, topic, 1)).toEqual(['a', 'b']);
    expect([...(await log.committed('kept', topic))]).toEqual([[1, 1]]);
    await expect.poll(() => said).toContain('group members work again');
    expect(said.sort()).toEqual([
      'Kafka answers again',
      'group member cannot work',
      'group members work again',
      'no broker of Kafka answers',
    ]);
  });
});

describe('a broker that does not answer', () => {
  /** Until the end of the block. */
  function paused(): Disposable {
    kafka.pause();
    return { [Symbol.dispose]: () => kafka.resume() };
  }

  it('fails appends in time, and takes none of the next for one of those', async () => {
    await using log = await open();
    const topic = await newTopic(log);
    await log.append([placed(topic, 0, message('before'))]);
    {
      using _ = paused();
      const late = ['late-1', 'late-2'].map((key) =>
        log.append([placed(topic, 0, message(key))], { timeoutMs: 300 }),
      );
      for (const one of late) await expect(one).rejects.toMatchObject({ code: 'log_unavailable' });
    }
    for (const key of ['1', '2', '3']) await log.append([placed(topic, 0, message(key))]);
    const keys = await keysOf(log, topic);
    expect(keys.filter((key) => !key.startsWith('late'))).toEqual(['before', '1', '2', '3']);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it('holds up no clean end', async () => {
    const log = await open();
    const topic = await newTopic(log);
    const follower = new Follower(log, [position(topic)]);
    {
      using _ = paused();
      const append = log.append([placed(topic, 0, message('a'))]);
      await Promise.all([
        expect(append).rejects.toMatchObject({ code: 'log_unavailable' }),
        log[Symbol.asyncDispose](),
      ]);
      await expect(follower.until(() => false)).rejects.toMatchObject({ code: 'log_unavailable' });
    }
    await using after = await open();
    expect(await after.partitions(topic)).toBe(1);
  });
});

describe('an owner that was paused', () => {
  it('gives up when it goes on, and its stale attempt shows nothing', async () => {
    const random = seeded(seedOfRun());
    const why = `SVC_TEST_SEED=${random.seed}`;
    await using log = await open();
    const topic = await newTopic(log);
    for (let round = 0; round < 3; round++) {
      const child = startChild('./kafka-child.ts', [kafka.url, prefix, 'writer', topic]);
      const told: Record<string, unknown>[] = [];
      const progress = new Progress();
      const listening = (async () => {
        for await (const fact of child.lines) {
          told.push(fact);
          progress.add();
        }
      })();
      await progress.more(1 + random.int(50));
      child.process.kill('SIGSTOP');
      await using writer = await log.openWriter('owner');
      const taken = `taken/${round}`;
      await writer.commit([placed(topic, 0, message(taken))]);
      child.process.kill('SIGCONT');
      expect(await child.ended, child.errors.join('\n')).toBe(0);
      await listening;
      const keys = await keysUntil(log, topic, taken);
      const committed = told.flatMap(({ committed: key }) => (key === undefined ? [] : [key]));
      expect(told.at(-1), why).toEqual({ failed: 'writer_fenced' });
      expect(keys.at(-1), why).toBe(taken);
      const own = keys.filter((key) => key.startsWith(`${child.process.pid}/`));
      expect(own.slice(0, committed.length), why).toEqual(committed);
      // The message in progress at the stop may be there without an acknowledgment.
      expect(own.length, why).toBeLessThanOrEqual(committed.length + 1);
    }
  });
});

describe('members in processes of their own', () => {
  const all = [0, 1, 2, 3, 4, 5, 6];

  class Member implements AsyncDisposable {
    readonly held = new Set<number>();
    readonly #child;

    constructor(topic: string) {
      this.#child = startChild('./kafka-child.ts', [kafka.url, prefix, 'member', topic]);
      void this.#listen();
    }

    kill(): void {
      this.#child.process.kill('SIGKILL');
      this.held.clear();
    }

    async [Symbol.asyncDispose](): Promise<void> {
      if (this.#child.process.exitCode !== null || this.#child.process.signalCode !== null) return;
      const exited = once(this.#child.process, 'exit');
      this.#child.process.kill('SIGKILL');
      await exited;
    }

    async #listen(): Promise<void> {
      for await (const { assigned, revoked } of this.#child.lines) {
        for (const number of (assigned as number[] | undefined) ?? []) this.held.add(number);
        for (const number of (revoked as number[] | undefined) ?? []) this.held.delete(number);
      }
    }
  }

  const heldBy = (...members: Member[]): number[] =>
    members.flatMap(({ held }) => [...held]).sort((a, b) => a - b);

  /** Looks on until the members share all numbers as said. */
  async function shared(members: readonly Member[], counts: readonly number[]): Promise<void> {
    for (;;) {
      const sizes = members.map(({ held }) => held.size).sort();
      if (sizes.join() === counts.join() && heldBy(...members).join() === all.join()) return;
      await sleep(20);
    }
  }

  it('share all numbers, and take over those of one that is killed', async () => {
    await using log = await open();
    const topic = await newTopic(log, all.length);
    await using one = new Member(topic);
    await shared([one], [7]);
    await using two = new Member(topic);
    await shared([one, two], [3, 4]);
    const kept = new Set([...one.held]);
    await using three = new Member(topic);
    await shared([one, two, three], [2, 2, 3]);
    expect([...one.held].every((number) => kept.has(number))).toBe(true);
    const stayed = new Set([...two.held]);
    one.kill();
    await shared([two, three], [3, 4]);
    expect([...stayed].every((number) => two.held.has(number))).toBe(true);
  });
});

describe('a process that closed the log', () => {
  it('ends by itself: no timer and no socket is left', async () => {
    await using log = await open();
    const topic = await newTopic(log);
    const child = startChild('./kafka-child.ts', [kafka.url, prefix, 'guest', topic]);
    const told: unknown[] = [];
    for await (const fact of child.lines) told.push(fact);
    expect(await child.ended, child.errors.join('\n')).toBe(0);
    expect(told).toEqual([{ read: 2 }]);
  });
});
