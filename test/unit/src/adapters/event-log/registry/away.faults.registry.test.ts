import { pino, type Logger } from 'pino';
import { expect, it } from 'vitest';
import { openEmbeddedLogClient } from '#adapters/event-log/embedded/client.ts';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import {
  openRegistrySchemas,
  type RegistrySchemas,
  readWithSchemas,
} from '#adapters/event-log/registry/open.ts';
import type { Batch } from '#ports/event-log.ts';
import { startRegistry } from '#test/services/registry.ts';
import type { Service } from '#test/services/service.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';

const topic = 'svc.made.v1';
const record = (...names: string[]) => ({
  type: 'record',
  name: 'Value',
  fields: names.map((name) => ({ name, type: 'string', default: '' })),
});
const away = { code: 'registry_unavailable' };

type Value = Record<string, string>;

/** An earlier and a later process, which has registered what the earlier has never seen. */
async function twoProcesses({ url }: Service) {
  const schemas = openRegistrySchemas({ url, prefix: 'p', retryForMs: 1_000 });
  const reader = await schemas.codecOf<Value>(topic, record('a'));
  const later = openRegistrySchemas({ url, prefix: 'p', retryForMs: 1_000 });
  const writer = await later.codecOf<Value>(topic, record('a', 'b'));
  return { schemas, reader, writer };
}

it.each(['kill', 'pause'] as const)('a registry that is away (%s)', async (fault) => {
  await using registry = await startRegistry();
  const { schemas, reader, writer } = await twoProcesses(registry);
  await registry[fault]();

  // What is known goes on.
  expect(reader.decode(reader.encode({ a: 'x' }))).toEqual({ a: 'x' });
  await schemas.load([reader.encode({ a: 'x' })]);
  const fresh = openRegistrySchemas({ url: registry.url, prefix: 'p', retryForMs: 1_000 });
  const unknown = writer.encode({ a: 'y', b: 'z' });
  const opening = fresh.codecOf(topic, record('a'));
  const loading = schemas.load([unknown]);
  await Promise.all([
    expect(opening).rejects.toMatchObject(away),
    expect(loading).rejects.toMatchObject(away),
  ]);
  expect(() => reader.decode(unknown)).toThrow(expect.objectContaining(away) as Error);

  if (fault === 'kill') await registry.restart();
  else registry.resume();
  const load = () => schemas.load([unknown]).then(() => 'loaded', String);
  await expect.poll(load).toBe('loaded');
  expect(reader.decode(unknown)).toEqual({ a: 'y' });
  expect(await fresh.codecOf(topic, record('a'))).toBeDefined();
});

/** The embedded log, read with the schemas; a topic of one partition. */
async function openLog(schemas: RegistrySchemas, logger?: Logger) {
  await using stack = new AsyncDisposableStack();
  const { path: directory } = stack.use(await temporaryFolder());
  const embedded = stack.use(await openEmbeddedLog({ directory }));
  const client = stack.use(openEmbeddedLogClient({ directory, port: embedded.connectPort() }));
  const log = readWithSchemas(client.log, schemas, logger);
  await log.ensureTopics([{ name: topic, partitions: 1, cleanup: { policy: 'none' } }]);
  const opened = stack.move();
  const start = { topic, partition: 0, offset: 0 };
  return {
    append: (...values: Buffer[]) =>
      log.append([
        {
          topic,
          partition: 0,
          messages: values.map((value) => ({ key: 'k', value, headers: {} })),
        },
      ]),
    follow: (signal: AbortSignal) => log.follow([start], { signal }),
    read: () => log.read(start),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

it('a log waits with messages whose schema cannot be fetched, and loses none', async () => {
  await using registry = await startRegistry();
  const { schemas, reader, writer } = await twoProcesses(registry);
  await using log = await openLog(schemas);
  await log.append(reader.encode({ a: 'one' }));
  const stop = new AbortController();
  const add = async (batches: AsyncIterable<Batch>, seen: (string | undefined)[]) => {
    for await (const { messages } of batches) {
      for (const { value } of messages) seen.push(reader.decode(value!)['a']);
    }
    return seen;
  };
  const seen: (string | undefined)[] = [];
  const following = add(log.follow(stop.signal), seen);
  await expect.poll(() => seen).toEqual(['one']);
  await registry.kill();
  await log.append(writer.encode({ a: 'two', b: '' }), reader.encode({ a: 'three' }));
  await expect(add(log.read(), [])).rejects.toMatchObject(away);
  expect(seen).toEqual(['one']);

  await registry.restart();
  await expect.poll(() => seen).toEqual(['one', 'two', 'three']);
  expect(await add(log.read(), [])).toEqual(['one', 'two', 'three']);
  stop.abort();
  await following;
});

it('a follower that waits for the registry ends when it is aborted', async () => {
  await using registry = await startRegistry();
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const { schemas, writer } = await twoProcesses(registry);
  await using log = await openLog(schemas, logger);
  await registry.kill();
  await log.append(writer.encode({ a: 'x', b: '' }));
  const stop = new AbortController();
  const following = Array.fromAsync(log.follow(stop.signal));
  const waits = () => lines.some((line) => line.includes('waiting for the schema registry'));
  await expect.poll(waits).toBe(true);
  stop.abort();
  const handedOut = (await following).flatMap(({ messages }) => messages);
  expect(handedOut).toEqual([]);
});
