import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedLog, type EmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { GatewayError } from '#kernel/errors.ts';
import { overridden } from '#kernel/overridden.ts';
import type { Batch, EventLog, FollowOptions, Position } from '#ports/event-log.ts';
import type { MessageReactor, ConsumedMessage } from '#streams/reactor/reactor.ts';
import { startMessageReactor } from '#streams/reactor/runner.ts';
import { givenOrders } from '#test/support/fakes/orders.ts';
import { silent } from '#test/support/worlds/control.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';
import { keptTopic, message, placed } from '#test/support/worlds/log.ts';
import { until } from '#test/support/worlds/runs.ts';

const topic = 'svc.test.v1';
const group = 'svc.testers';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let embedded: EmbeddedLog;
let log: EventLog;

beforeEach(async () => {
  folder = await temporaryFolder();
  embedded = await openEmbeddedLog({ directory: folder.path });
  log = embedded.log;
  await log.ensureTopics([keptTopic(topic)]);
});
afterEach(async () => {
  await embedded[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const start = (handle: MessageReactor['handle'], more: Partial<MessageReactor> = {}) =>
  startMessageReactor({
    log,
    group,
    topic,
    logger: silent,
    retryWaitMs: 1,
    handle,
    operatorRequests: givenOrders(),
    ...more,
  });
const append = (...keys: string[]) =>
  log.append([placed(topic, 0, ...keys.map((key) => message(key)))]);
const committed = async () => (await log.committed(group, topic)).get(0) ?? null;

describe('a reactor', () => {
  it('takes what is there and what comes, in order', async () => {
    await append('a', 'b');
    const seen: string[] = [];
    await using _ = await start(async (taken) => void seen.push(taken.message.key));
    await until(() => seen.length === 2);
    await append('c');
    await until(() => seen.length === 3);
    expect(seen).toEqual(['a', 'b', 'c']);
  });

  it('commits no further than the first unfinished message', async () => {
    await append('slow', 'b', 'c');
    const slow = Promise.withResolvers<undefined>();
    const done: string[] = [];
    await using _ = await start(async ({ message: { key } }) => {
      if (key === 'slow') await slow.promise;
      done.push(key);
    });
    await until(() => done.length === 2);
    expect(await committed()).toBeNull();
    slow.resolve(undefined);
    await until(async () => (await committed()) === (await log.endOffset(topic, 0)));
  });

  it('goes on from there, repeating what was not finished', async () => {
    await append('a', 'stuck', 'c');
    const first: string[] = [];
    const reactor = await start(async ({ message: { key } }, signal) => {
      if (key === 'stuck') {
        await new Promise((_, reject) =>
          signal.addEventListener('abort', () => reject(new Error('ended'))),
        );
      }
      first.push(key);
    });
    await until(() => first.length === 2);
    await reactor[Symbol.asyncDispose]();
    const second: string[] = [];
    await using _ = await start(async ({ message: { key } }) => void second.push(key));
    await until(() => second.length === 2);
    expect(second).toEqual(['stuck', 'c']);
  });

  it('sets a message aside after five tries and goes on', async () => {
    await append('bad', 'good');
    const parked: [string, number][] = [];
    const done: string[] = [];
    await using _ = await start(
      async ({ message: { key } }) => {
        if (key === 'bad') throw new Error('cannot');
        done.push(key);
      },
      {
        operatorRequests: givenOrders(async ({ message: { key } }, _error, attempts) => {
          parked.push([key, attempts]);
        }),
      },
    );
    await until(() => parked.length === 1 && done.length === 1);
    expect(parked).toEqual([['bad', 5]]);
    await until(async () => (await committed()) === (await log.endOffset(topic, 0)));
  });

  it('waits an outage out instead of blaming the message', async () => {
    await append('a');
    let tries = 0;
    const done: string[] = [];
    await using _ = await start(async ({ message: { key } }) => {
      tries += 1;
      if (tries <= 6) throw new GatewayError('log_unavailable');
      done.push(key);
    });
    await until(() => done.length === 1);
    expect(tries).toBe(7);
  });

  it('counts no try of an outage before a message that then fails', async () => {
    await append('a');
    let tries = 0;
    const parked: string[] = [];
    const done: string[] = [];
    await using _ = await start(
      async ({ message: { key } }) => {
        tries += 1;
        if (tries <= 4) throw new GatewayError('log_unavailable');
        if (tries === 5) throw new Error('cannot yet');
        done.push(key);
      },
      {
        operatorRequests: givenOrders(async ({ message: { key } }) => void parked.push(key)),
      },
    );
    await until(() => done.length + parked.length === 1);
    expect({ done, parked }).toEqual({ done: ['a'], parked: [] });
  });

  it('works on no more messages at once than it may', async () => {
    await append(...Array.from({ length: 20 }, (_, index) => `${index}`));
    let under = 0;
    let most = 0;
    let done = 0;
    await using _ = await start(
      async () => {
        most = Math.max(most, (under += 1));
        await new Promise((resolve) => setImmediate(resolve));
        under -= 1;
        done += 1;
      },
      { inFlightMax: 3 },
    );
    await until(() => done === 20);
    expect(most).toBe(3);
  });

  it('commits nothing that it left alone, though the log goes on past it when the partition goes', async () => {
    await append('a', 'b');
    const end = await log.endOffset(topic, 0);
    const holey = overridden(log, {
      async *follow([from]: readonly Position[], { signal }: FollowOptions): AsyncIterable<Batch> {
        yield* log.read(from!);
        await new Promise<void>((resolve) => {
          if (signal.aborted) resolve();
          signal.addEventListener('abort', () => resolve(), { once: true });
        });
        yield { topic, partition: 0, messages: [], next: end };
      },
    });
    const seen: string[] = [];
    const reactor = await start(
      async ({ message: { key } }, signal) => {
        seen.push(key);
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
      },
      { log: holey, inFlightMax: 1 },
    );
    await until(() => seen.length === 1);
    await reactor[Symbol.asyncDispose]();
    expect([seen, await committed()]).toEqual([['a'], 1]);
  });

  it('prepares a partition with the place it begins at', async () => {
    await append('a', 'b');
    await log.commit({ group, positions: [{ topic, partition: 0, offset: 1 }] });
    const places: number[] = [];
    const seen: string[] = [];
    await using _ = await start(async (taken) => void seen.push(taken.message.key), {
      prepare: async (_partition, from) => void places.push(from),
    });
    await until(() => seen.length === 1);
    expect([places, seen]).toEqual([[1], ['b']]);
  });

  it('moves to where an operator wants it, without being started again', async () => {
    await append('a', 'b', 'c');
    const operatorRequests = givenOrders();
    const seen: string[] = [];
    const take = async ({ message: { key }, replay }: ConsumedMessage) =>
      void seen.push(replay === null ? key : `${key} again`);
    await using _ = await start(take, { operatorRequests });
    await until(() => seen.length === 3);
    operatorRequests.reset({ to: 1, until: 3 });
    await until(() => seen.length === 5);
    await append('d');
    await until(() => seen.length === 6);
    expect(seen).toEqual(['a', 'b', 'c', 'b again', 'c again', 'd']);
    expect(operatorRequests.moves).toEqual([1]);
    await until(async () => (await committed()) === 4);
  });

  it('lets go of what is under way when it moves, and takes it no more when that lies behind', async () => {
    await append('stuck', 'b', 'c');
    const operatorRequests = givenOrders();
    const seen: string[] = [];
    const take = async ({ message: { key } }: ConsumedMessage, signal: AbortSignal) => {
      seen.push(key);
      if (key !== 'stuck') return;
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('let go')));
      });
    };
    await using _ = await start(take, { operatorRequests });
    await until(() => seen.length === 3);
    operatorRequests.reset({ to: 2, until: 3 });
    await until(() => seen.length === 4);
    expect(seen).toEqual(['stuck', 'b', 'c', 'c']);
    await until(async () => (await committed()) === 3);
  });

  it('moves before it takes anything when the order came while nobody held the partition', async () => {
    await append('a', 'b', 'c');
    const operatorRequests = givenOrders();
    operatorRequests.reset({ to: 2 });
    const seen: string[] = [];
    await using _ = await start(async ({ message: { key } }) => void seen.push(key), {
      operatorRequests,
    });
    await until(() => seen.length === 1);
    expect(seen).toEqual(['c']);
  });
});
