/**
 * `node test/bench/capacity.ts [scale]`: what a record, a run, a webhook and a proxied call cost with 1, 3 and 6 gateway
 * processes on Kafka and a ClickHouse engine behind the server's protocol. One further process with the role api is asked for
 * nothing: what it uses is the price of following. Writes `capacity.json` and the tables of `docs/capacity.md`; `tables`
 * instead of a scale writes the tables alone. All processes share the machine, so that a figure is the cost of a unit, not
 * a throughput.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { systemClock } from '#kernel/time.ts';
import { topics } from '#streams/topics.ts';
import { startKafka } from '#test/services/kafka.ts';
import { startRedis } from '#test/services/redis.ts';
import { startRegistry } from '#test/services/registry.ts';
import { startClickHouseFront } from '#test/support/fakes/clickhouse-front.ts';
import { treeCpuMs } from '#test/support/processes/processor-time.ts';
import { openTestLog } from '#test/support/worlds/kafka-open.ts';
import { units, type Cost, type Figures, type Measured, type Unit } from './capacity-model.ts';
import { withTables } from './capacity-tables.ts';
import { startGatewayProcess, type GatewayProcess } from './gateway-process.ts';
import { round, withFolder } from './measure.ts';
import {
  called,
  connect,
  deploy,
  integration,
  providerEnv,
  servePages,
  statusOf,
  triggerSync,
  type Api,
} from './paged-provider.ts';

const sizes = [1, 3, 6];
/** Of each process, at work at the same time: as in a busy installation, a process has several units to put together. */
const connectionsOfEach = 6;
const pageSize = 500;
/** A page of this size is empty. */
const emptyPage = 1;
/** Many, so that the run itself, which is subtracted, is a small part; so fewer connections of each process save them. */
const recordsOfEach = 10_000;
const savingOfEach = 2;
const restMs = 20_000;
/** What work leaves behind, such as positions and merges, is part of its price. */
const afterMs = 3_000;
const figuresFile = new URL('capacity.json', import.meta.url);
const page = new URL('../../docs/capacity.md', import.meta.url);
const [scale = '1'] = process.argv.slice(2);

/** Totals since the start: ms of a core, offsets, bytes. */
type Totals = Readonly<
  Record<
    'gateway' | 'follower' | 'kafka' | 'clickhouse' | 'messages' | 'topicBytes' | 'tableBytes',
    number
  >
>;

/** Runs the tasks, so many at a time. */
async function inParallel(
  width: number,
  count: number,
  task: (at: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) await task(next++);
  };
  await Promise.all(Array.from({ length: width }, work));
}

class Bench {
  readonly gateways: GatewayProcess[] = [];
  readonly #totals: () => Promise<Totals>;
  readonly #account: string;
  readonly key: string;
  #received = 0;
  #receiver = '';

  constructor(key: string, account: string, totals: () => Promise<Totals>) {
    this.key = key;
    this.#account = account;
    this.#totals = totals;
  }

  async receive(): Promise<string> {
    const server = createServer((request, response) => {
      request.resume().on('end', () => {
        this.#received += 1;
        response.end('ok');
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    this.#receiver = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    return this.#receiver;
  }

  /** One after the other. */
  api(at: number): Api {
    return { url: this.gateways[at % this.gateways.length]?.url ?? '', key: this.key };
  }

  async rest(): Promise<{ readonly used: Totals; readonly ms: number }> {
    const [before, started] = [await this.#totals(), performance.now()];
    await wait(restMs);
    return { used: minus(await this.#totals(), before), ms: performance.now() - started };
  }

  /** Cost of each of the units that the work does, without what the processes use at rest. */
  async cost(
    count: number,
    rest: Awaited<ReturnType<Bench['rest']>>,
    work: () => Promise<unknown>,
  ): Promise<Cost> {
    const [before, started] = [await this.#totals(), performance.now()];
    await work();
    await wait(afterMs);
    const share = (performance.now() - started) / rest.ms;
    const used = minus(await this.#totals(), before);
    const each = (name: keyof Totals): number =>
      Math.max(0, used[name] - rest.used[name] * share) / count;
    return {
      gatewayUs: each('gateway') * 1000,
      followerUs: each('follower') * 1000,
      kafkaUs: each('kafka') * 1000,
      clickhouseUs: each('clickhouse') * 1000,
      messages: each('messages'),
      topicBytes: each('topicBytes'),
      clickhouseBytes: each('tableBytes'),
    };
  }

  /** Runs the sync of every connection, and waits for its end. */
  async runs(ids: readonly string[], limit: number): Promise<void> {
    await Promise.all(
      ids.map(async (id, at) => {
        const finished = async (): Promise<string | null> => {
          const sync = await statusOf(this.api(at), id, limit);
          return sync?.status === 'RUNNING' ? null : (sync?.finishedAt ?? null);
        };
        const before = await finished();
        await triggerSync(this.api(at), id, limit);
        for (let now = null; now === null || now === before; now = await finished())
          await wait(300);
      }),
    );
  }

  async webhooks(ids: readonly string[], count: number): Promise<void> {
    const [{ uuid }] = await this.#environments();
    await inParallel(ids.length, count, async (at) => {
      const reply = await fetch(`${this.api(at).url}/webhook/${uuid}/${integration}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-connection': ids[at % ids.length] ?? '' },
        body: JSON.stringify({ type: 'changed', at, id: randomBytes(8).toString('hex') }),
      });
      if (!reply.ok)
        throw new Error(`A webhook was answered ${reply.status} ${await reply.text()}`);
    });
  }

  /** The same, each forwarded to the application. */
  async forwarded(ids: readonly string[], count: number): Promise<void> {
    const until = this.#received + count;
    await this.webhooks(ids, count);
    while (this.#received < until) await wait(50);
  }

  async proxied(ids: readonly string[], count: number): Promise<void> {
    await inParallel(ids.length, count, async (at) => {
      const reply = await fetch(`${this.api(at).url}/proxy/contacts?limit=${emptyPage}`, {
        headers: {
          authorization: `Bearer ${this.key}`,
          'provider-config-key': integration,
          'connection-id': ids[at % ids.length] ?? '',
        },
      });
      if (!reply.ok) throw new Error(`A call was answered ${reply.status} ${await reply.text()}`);
      await reply.text();
    });
  }

  async forwardTo(isOn: boolean): Promise<void> {
    const [{ id }] = await this.#environments();
    await this.#asAccount('PATCH', `/environments/${id}`, {
      webhook_url: isOn ? `http://${this.#receiver}` : null,
    });
  }

  async #environments(): Promise<[{ readonly id: number; readonly uuid: string }]> {
    const { data } = (await this.#asAccount('GET', '/environments')) as {
      data: { id: number; name: string }[];
    };
    const dev = data.find(({ name }) => name === 'dev');
    const one = (await this.#asAccount('GET', `/environments/${dev?.id}`)) as {
      data: { id: number; uuid: string };
    };
    return [one.data];
  }

  async #asAccount(method: 'GET' | 'PATCH', path: string, body?: object): Promise<unknown> {
    const account = { ...this.api(0), key: this.#account };
    return JSON.parse(await called(account, method, path, body)) as unknown;
  }
}

const minus = (a: Totals, b: Totals): Totals =>
  Object.fromEntries(
    Object.entries(a).map(([name, value]) => [name, value - b[name as keyof Totals]]),
  ) as unknown as Totals;

/** Bytes of the segments of the topics with this prefix. */
function segmentBytes(folder: string, prefix: string): number {
  const data = join(folder, 'data');
  const partitions = readdirSync(data).filter((name) => name.startsWith(prefix));
  return partitions
    .flatMap((name) => readdirSync(join(data, name)).map((file) => join(data, name, file)))
    .filter((file) => file.endsWith('.log'))
    .reduce((sum, file) => sum + statSync(file).size, 0);
}

async function tableBytes(url: string): Promise<number> {
  const { origin, username, password } = new URL(url);
  const sign = Buffer.from(
    `${decodeURIComponent(username)}:${decodeURIComponent(password)}`,
  ).toString('base64');
  const body = `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'gateway'`;
  const reply = await fetch(origin, {
    method: 'POST',
    body,
    headers: { authorization: `Basic ${sign}` },
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(text);
  return Number(text);
}

/** Each kind of work once to warm up, then once measured. */
async function measured(bench: Bench): Promise<Measured> {
  const gateways = bench.gateways.length;
  const connections = connectionsOfEach * gateways;
  const idsOf = (turn: number) =>
    Promise.all(
      Array.from({ length: connections }, (_, at) =>
        connect(bench.api(at), `c-${gateways}-${turn}-${at}`),
      ),
    );
  const few = Math.ceil(100 * Number(scale)) * gateways;
  const runRounds = Math.max(3, Math.ceil((12 * Number(scale)) / gateways));
  const warm = await idsOf(0);
  await bench.runs(warm.slice(0, gateways), pageSize);
  await bench.runs(warm, emptyPage);
  await bench.webhooks(warm, few);
  await bench.proxied(warm, few * 5);
  const ids = await idsOf(1);
  const rest = await bench.rest();
  const run = await bench.cost(runRounds * connections, rest, async () => {
    for (let turn = 0; turn < runRounds; turn++) await bench.runs(ids, emptyPage);
  });
  const saving = ids.slice(0, savingOfEach * gateways);
  const ofRuns = await bench.cost(1, rest, () => bench.runs(saving, pageSize));
  const records = recordsOfEach * saving.length;
  // The runs that save the records are subtracted: records alone are left.
  const record = costOf((name) => Math.max(0, ofRuns[name] - run[name] * saving.length) / records);
  const proxied = await bench.cost(few * 20, rest, () => bench.proxied(ids, few * 20));
  const webhookIn = await bench.cost(few * 3, rest, () => bench.webhooks(ids, few * 3));
  await bench.forwardTo(true);
  await bench.forwarded(ids, few);
  const both = await bench.cost(few * 3, rest, () => bench.forwarded(ids, few * 3));
  await bench.forwardTo(false);
  const webhookOut = costOf((name) => Math.max(0, both[name] - webhookIn[name]));
  const perSecond = (name: 'gateway' | 'kafka') => round((rest.used[name] / rest.ms) * 1000, 1);
  const all: Record<Unit, Cost> = { record, run, webhookIn, webhookOut, proxied };
  const rounded = units.map((unit) => [unit, costOf((name) => round(all[unit][name], 1))]);
  return {
    gateways,
    idle: { gatewayMs: perSecond('gateway'), kafkaMs: perSecond('kafka') },
    units: Object.fromEntries(rounded) as Measured['units'],
  };
}

const costOf = (of: (name: keyof Cost) => number): Cost => ({
  gatewayUs: of('gatewayUs'),
  followerUs: of('followerUs'),
  kafkaUs: of('kafkaUs'),
  clickhouseUs: of('clickhouseUs'),
  messages: of('messages'),
  topicBytes: of('topicBytes'),
  clickhouseBytes: of('clickhouseBytes'),
});

async function measure(folder: string): Promise<Figures> {
  await using stack = new AsyncDisposableStack();
  const kafka = stack.use(await startKafka());
  const registry = stack.use(await startRegistry());
  const redis = stack.use(await startRedis());
  const clickhouse = stack.use(await startClickHouseFront());
  const prefix = 'capacity';
  const secret = (kind: string): string => `svc_${kind}_${randomBytes(32).toString('base64url')}`;
  const [key, account] = [secret('env'), secret('acct')];
  const port = await servePages(recordsOfEach, [pageSize]);
  let follower = 0;

  const { log } = stack.use(await openTestLog(kafka.url, { prefix }));
  const messages = async (): Promise<number> => {
    const ends = await Promise.all(Object.keys(topics).map((topic) => log.endOffsets(topic)));
    return ends.flat().reduce((sum, end) => sum + end, 0);
  };
  const bench = new Bench(key, account, async () => ({
    gateway: bench.gateways.reduce((sum, { pid }) => sum + treeCpuMs(pid), 0),
    follower: treeCpuMs(follower),
    kafka: treeCpuMs(kafka.pid),
    clickhouse: treeCpuMs(clickhouse.pid),
    messages: await messages(),
    topicBytes: segmentBytes(kafka.folder, prefix),
    tableBytes: await tableBytes(clickhouse.url),
  }));

  const receiver = await bench.receive();
  const routing = {
    connection: { property: 'connectionId', identifier: [{ header: 'x-connection' }] },
    type: [{ body: 'type' }],
  };
  const provider = await providerEnv(folder, port, { webhook_routing: routing });
  const env = {
    ...provider,
    SVC_EGRESS_ALLOW: `${provider['SVC_EGRESS_ALLOW']},${receiver}`,
    SVC_LOG_URL: kafka.url,
    SVC_REGISTRY_URL: registry.url,
    SVC_REDIS_URL: redis.url,
    SVC_CLICKHOUSE_URL: clickhouse.url,
    SVC_TOPIC_PREFIX: prefix,
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    SVC_PARTITIONS: '12',
    SVC_RATE_LIMIT_PER_MINUTE: '0',
    SVC_BOOTSTRAP_KEY_DEV: key,
    SVC_BOOTSTRAP_ACCOUNT_KEY: account,
  };
  const start = async (name: string, more: Readonly<Record<string, string>> = {}) =>
    stack.use(await startGatewayProcess(join(folder, name), { ...env, ...more }));

  const results: Measured[] = [];
  for (const size of sizes) {
    const missing = Array.from({ length: size - bench.gateways.length }, (_, at) => at);
    const began = performance.now();
    bench.gateways.push(...(await Promise.all(missing.map((at) => start(`g-${size}-${at}`)))));
    if (follower === 0) {
      await deploy(bench.api(0), [pageSize, emptyPage]);
      follower = (await start('follower', { SVC_ROLES: 'api' })).pid;
    }
    console.error(`${size} gateways ready after ${Math.round(performance.now() - began)} ms`);
    results.push(await measured(bench));
    console.error(JSON.stringify(results.at(-1)));
  }
  return { sizes: results };
}

if (scale !== 'tables') {
  const figures = await withFolder(measure);
  const measuredAt = new Date(systemClock.now()).toISOString().slice(0, 10);
  writeFileSync(figuresFile, `${JSON.stringify({ measuredAt, ...figures }, null, 2)}\n`);
}
const figures = JSON.parse(readFileSync(figuresFile, 'utf8')) as Figures;
writeFileSync(page, withTables(readFileSync(page, 'utf8'), figures));
process.exit();
