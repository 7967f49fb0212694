/**
 * `node test/bench/empty-run.ts [embedded|kafka] [rounds]`: what a run of a sync that saves nothing costs, with one gateway
 * process: processor time (that of the sandbox is a part of the gateway's), and the messages of each kind on each topic. The
 * kinds are the mean of all rounds. Prints a table, and its figures as the last line.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { openRegistrySchemas } from '#adapters/event-log/registry/open.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import { topics, type TopicName } from '#streams/topics.ts';
import { startKafka } from '#test/services/kafka.ts';
import { startRedis } from '#test/services/redis.ts';
import { startRegistry } from '#test/services/registry.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { treeOf } from '#test/support/processes/processor-time.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import { startGatewayProcess } from './gateway-process.ts';
import { report, round, withFolder } from './measure.ts';
import {
  connect,
  deploy,
  providerEnv,
  servePages,
  triggerSync,
  type Api,
} from './paged-provider.ts';

const [mode = 'embedded', rounds = '20'] = process.argv.slice(2);
const connections = 6;
const pageSize = 1;
const warmRounds = 10;
const restMs = 10_000;
/** What the runs leave behind, such as positions and log lines, is part of their price. */
const afterMs = 3_000;
const roundMs = 600;

const topicNames = Object.keys(topics) as TopicName[];

/** A log that can be read while the gateway runs, or only after it. */
interface World extends AsyncDisposable {
  readonly env: Readonly<Record<string, string>>;
  /** Processes beside the gateway, by their names in the figures. */
  readonly pids: Readonly<Record<string, number>>;
  readonly ends: () => Promise<Readonly<Record<string, number>>>;
  readonly withLog: (read: (log: EventLog, schemas: Schemas) => Promise<void>) => Promise<void>;
}

async function embeddedWorld(folder: string): Promise<World> {
  return {
    env: {},
    pids: {},
    ends: async () => ({}),
    async withLog(read) {
      const directory = join(folder, 'gateway', 'log');
      await using opened = await openEmbeddedLog({ directory });
      await read(opened.log, opened.schemas);
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
}

async function kafkaWorld(): Promise<World> {
  const stack = new AsyncDisposableStack();
  const kafka = stack.use(await startKafka());
  const registry = stack.use(await startRegistry());
  const redis = stack.use(await startRedis());
  const clickhouse = stack.use(await startClickHouseFront());
  const prefix = 'emptyrun';
  const { log } = stack.use(await openTestLog(kafka.url, { prefix }));
  return {
    env: {
      SVC_LOG_URL: kafka.url,
      SVC_REGISTRY_URL: registry.url,
      SVC_REDIS_URL: redis.url,
      SVC_CLICKHOUSE_URL: clickhouse.url,
      SVC_TOPIC_PREFIX: prefix,
      SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
      SVC_PARTITIONS: '12',
    },
    pids: { kafka: kafka.pid, clickhouse: clickhouse.pid },
    async ends() {
      const ends = topicNames.map(async (topic) => {
        const offsets = await log.endOffsets(topic);
        return [topic, offsets.reduce((sum, end) => sum + end, 0)] as const;
      });
      return Object.fromEntries(await Promise.all(ends));
    },
    withLog: (read) => read(log, openRegistrySchemas({ url: registry.url, prefix })),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** The part of a value that says what the message is for. */
function kindOf(topic: TopicName, key: string, value: Readonly<Record<string, unknown>>): string {
  switch (topic) {
    case 'svc.internal.commands.v1': {
      const items = value['items'] as { kind: string; body: string }[];
      const types = items.map(({ kind, body }) => {
        const { type } = JSON.parse(body) as { type: string };
        return `${kind} ${type}`;
      });
      return types.join(' + ');
    }
    case 'svc.internal.control.v1':
      return String(value['kind']);
    case 'svc.internal.record-commands.v1':
      return String(value['kind']);
    case 'svc.internal.streams.v1':
      return key.startsWith('~') ? key : 'head';
    case 'svc.internal.replies.v1':
      return 'reply';
    case 'svc.logs.v1':
      return textOf(value['state']) ?? 'line';
    default:
      return textOf(value['action']) ?? textOf(value['type']) ?? '';
  }
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Messages of the period by topic and kind. */
async function kindsBetween(
  world: World,
  from: number,
  to: number,
): Promise<Map<string, Map<string, number>>> {
  const counts = new Map<string, Map<string, number>>();
  await world.withLog(async (log, schemas) => {
    for (const topic of topicNames) {
      const codec = await schemas.codec<Record<string, unknown>>(topic);
      const kinds = new Map<string, number>();
      const partitions = await log.partitions(topic);
      for (let partition = 0; partition < partitions; partition++) {
        const offset = await log.offsetAt(topic, partition, from);
        for await (const { messages } of log.read({ topic, partition, offset })) {
          for (const { key, value, timestamp } of messages) {
            if (timestamp < from || timestamp > to) continue;
            const kind = value === null ? 'tombstone' : kindOf(topic, key, codec.decode(value));
            kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
          }
        }
      }
      if (kinds.size > 0) counts.set(topic, kinds);
    }
  });
  return counts;
}

/** The ends of runs of the gateway, from one stream: asking for them again and again would be part of their price. */
class RunEnds implements Disposable {
  readonly #abort = new AbortController();
  readonly #waiting = new Map<string, PromiseWithResolvers<undefined>>();

  async open({ url, key }: Api): Promise<void> {
    const headers = { authorization: `Bearer ${key}` };
    const { signal } = this.#abort;
    const { ok, status, body } = await fetch(`${url}/runs/tail`, { headers, signal });
    if (!ok || body === null) throw new Error(`GET /runs/tail: ${status}`);
    void this.#follow(body).catch((error: unknown) => {
      for (const { reject } of this.#waiting.values()) reject(error);
    });
  }

  async #follow(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    let text = '';
    for await (const part of body.pipeThrough(new TextDecoderStream())) {
      const lines = `${text}${part}`.split('\n');
      text = lines.pop() ?? '';
      for (const line of lines) if (line.startsWith('data: ')) this.#take(line.slice(6));
    }
  }

  #take(json: string): void {
    const run = JSON.parse(json) as { connection_id: string; status: string; ended_at: unknown };
    if (run.ended_at === null) return;
    const waiting = this.#waiting.get(run.connection_id);
    if (run.status === 'succeeded') waiting?.resolve(undefined);
    else waiting?.reject(new Error(`A run has not succeeded: ${json}`));
  }

  /** Resolves when the next run of the connection has succeeded. */
  next(connectionId: string): Promise<undefined> {
    const waiting = Promise.withResolvers<undefined>();
    this.#waiting.set(connectionId, waiting);
    return waiting.promise;
  }

  [Symbol.dispose](): void {
    this.#abort.abort();
  }
}

/**
 * Runs the sync of every connection, spread over the round as schedules are, and waits for its end. A round takes the same
 * time however short the runs are: the cost of what is done a few times a second, such as inserts into tables, is divided
 * by as many runs.
 */
async function runAll(api: Api, ends: RunEnds, ids: readonly string[]): Promise<void> {
  const runs = ids.map(async (id, at) => {
    await wait((at * roundMs) / ids.length);
    const end = ends.next(id);
    await triggerSync(api, id, pageSize);
    await end;
  });
  await Promise.all([...runs, wait(roundMs)]);
}

const sumOf = (members: ReturnType<typeof treeOf>): number =>
  members.reduce((sum, { ms }) => sum + ms, 0);

await withFolder(async (folder) => {
  await using world = mode === 'kafka' ? await kafkaWorld() : await embeddedWorld(folder);
  const env = {
    ...(await providerEnv(folder, await servePages(0, [pageSize]))),
    ...world.env,
    SVC_RATE_LIMIT_PER_MINUTE: '0',
  };
  const gateway = await startGatewayProcess(join(folder, 'gateway'), env);
  const used = (): Record<string, number> => {
    const sums = Object.entries(world.pids).map(([name, pid]): [string, number] => [
      name,
      sumOf(treeOf(pid)),
    ]);
    const tree = treeOf(gateway.pid);
    // The children of the gateway are the processes of the sandbox.
    const sandbox = sumOf(tree.filter(({ pid }) => pid !== gateway.pid));
    return { gateway: sumOf(tree), sandbox, ...Object.fromEntries(sums) };
  };

  await deploy(gateway, [pageSize]);
  const ids = Array.from({ length: connections }, (_, at) => `c-${at}`);
  for (const id of ids) await connect(gateway, id);
  using runEnds = new RunEnds();
  await runEnds.open(gateway);
  for (let turn = 0; turn < warmRounds; turn++) await runAll(gateway, runEnds, ids);
  await wait(afterMs);
  const [atRest, restBegan] = [used(), performance.now()];
  await wait(restMs);
  const rested = performance.now() - restBegan;
  const [before, endsBefore, from, began] = [
    used(),
    await world.ends(),
    Date.now(),
    performance.now(),
  ];
  for (let turn = 0; turn < Number(rounds); turn++) await runAll(gateway, runEnds, ids);
  await wait(afterMs);
  const [after, endsAfter, to, took] = [
    used(),
    await world.ends(),
    Date.now(),
    performance.now() - began,
  ];
  if (mode !== 'kafka') await gateway[Symbol.asyncDispose]();

  const runs = Number(rounds) * connections;
  const figures: Record<string, number> = {};
  for (const name of Object.keys(before)) {
    const rest = (((before[name] ?? 0) - (atRest[name] ?? 0)) / rested) * took;
    figures[`${name}_ms`] = round(((after[name] ?? 0) - (before[name] ?? 0) - rest) / runs);
  }
  let messages = 0;
  for (const [topic, kinds] of await kindsBetween(world, from, to)) {
    let sum = 0;
    for (const [kind, count] of kinds) {
      console.error(
        `${topic.padEnd(34)}${kind.padEnd(32)}${(count / runs).toFixed(2).padStart(7)}`,
      );
      sum += count;
    }
    messages += sum;
    const markers = (endsAfter[topic] ?? 0) - (endsBefore[topic] ?? 0) - sum;
    if (markers <= 0) continue;
    console.error(
      `${topic.padEnd(34)}${'marker'.padEnd(32)}${(markers / runs).toFixed(2).padStart(7)}`,
    );
    messages += markers;
  }
  figures['messages'] = round(messages / runs);
  report(figures);
  if (mode === 'kafka') await gateway[Symbol.asyncDispose]();
});
process.exit();
