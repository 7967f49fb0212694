/**
 * `growth.ts [--quick] [connections] [runs] [streams] [payload] [takeover] [together]`: what a request waits for while a
 * state grows, at three sizes each, and the exponent of its growth: log(t2 / t1) / log(n2 / n1), from the first size to
 * the last (0: it does not grow, 1: linear). Times are in ms, medians where nothing else is named. `together`: actions
 * of one environment alone, and beside the syncs of another that are due at the same time.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { definitions } from '#app/process/entities.ts';
import { controlTopic } from '#control-plane/message-codec.ts';
import { joinKey } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { partitionOf } from '#kernel/partition.ts';
import { connectionRef } from '#modules/connections/connections/entity.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import { openTopicWriters, placed } from '#streams/owner/topic-writers.ts';
import { openCrmWorld, succeeded } from '#test/support/worlds/crm-world.ts';
import { compiledFunctions } from '#test/support/worlds/deploy.ts';
import { connect, oldest, run } from './console-seed.ts';
import { percentile, report, round, withFolder, workload } from './measure.ts';
import { decided, newOrigin, readable, startNode, type BenchNode } from './node.ts';

const given = new Set(process.argv.slice(2));
const isQuick = given.delete('--quick');
const isWanted = (part: string): boolean => given.size === 0 || given.has(part);
const samples = isQuick ? 15 : 40;
const agent = new Agent({ connections: 1, pipelining: 1 });

/** Times of one part by name, one for each size. */
type Table = Map<string, number[]>;

const figures: Record<string, number> = {};

function finish(part: string, sizes: readonly number[], table: Table, unit = 'ms_p50'): void {
  const cell = (text: string | number): string => String(text).padStart(11);
  console.error(
    `\n${part.padEnd(34)}${sizes.map((size) => cell(size)).join('')}${cell('exponent')}`,
  );
  for (const [name, times] of table) {
    const [first = 0, last = 0] = [times[0], times.at(-1)];
    const exponent = Math.log(last / first) / Math.log((sizes.at(-1) ?? 0) / (sizes[0] ?? 0));
    const cells = [...times.map((time) => round(time)), round(exponent)].map(cell);
    console.error(`${name.padEnd(34)}${cells.join('')}`);
    figures[`${part}.${name}_${unit}`] = round(last);
    figures[`${part}.${name}_exponent`] = round(exponent);
  }
}

function note(table: Table, name: string, time: number): void {
  table.set(name, [...(table.get(name) ?? []), time]);
}

async function get(
  { url, key }: Pick<BenchNode, 'url' | 'key'>,
  path: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly ms: number; readonly body: unknown }> {
  const started = performance.now();
  const sent = { authorization: `Bearer ${key}`, ...headers };
  const { statusCode, body } = await request(url + path, { headers: sent, dispatcher: agent });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`${path}: ${statusCode} ${text}`);
  return { ms: performance.now() - started, body: JSON.parse(text) as unknown };
}

/** Median over requests that differ; the first few are not counted. */
async function median(ask: (sample: number) => Promise<{ readonly ms: number }>): Promise<number> {
  const times: number[] = [];
  for (let sample = -3; sample < samples; sample += 1) {
    const { ms } = await ask(Math.abs(sample));
    if (sample >= 0) times.push(ms);
  }
  return percentile(times, 50);
}

/** Numbers below the size, spread over it. */
const spread = (sample: number, size: number): number =>
  Math.floor((size * (sample + 0.5)) / samples);

/** Connections that were created; the others are copies of them that are appended to the topic of states. */
const createdMax = 100;
const copiesPerAppend = 1_000;

async function copyConnections(
  { running }: BenchNode,
  created: readonly Connection[],
  from: number,
  to: number,
): Promise<void> {
  const { log, schemas, services } = running;
  const writers = await openTopicWriters(log, schemas, definitions);
  const partitions = await log.partitions(controlTopic);
  const copies = Array.from({ length: to - from }, (_, n) => {
    const at = from + n;
    const source = created[at % created.length];
    if (source === undefined) throw new Error('nothing to copy');
    const endUser = source.endUser && { ...source.endUser, id: `user-${at}` };
    const more = {
      connectionId: `customer-${at}`,
      id: 1_000 + at,
      createdAt: source.createdAt + at,
    };
    const email = `user-${at}@example.com`;
    const state = { ...source, ...more, endUser: endUser && { ...endUser, email } };
    const { kind, scope, path } = connectionRef(
      source.environmentUid,
      source.integrationKey,
      state.connectionId,
    );
    const value = { kind, scope, path, state: JSON.stringify(state), decided_at: state.createdAt };
    return writers.entity(partitionOf(scope, partitions), joinKey(kind, ...path), value, 1);
  });
  for (let at = 0; at < copies.length; at += copiesPerAppend) {
    await log.append(placed(copies.slice(at, at + copiesPerAppend)));
  }
  await services.control.view.caughtUp();
}

const connectionSizes = isQuick ? [300, 1_000, 3_000] : [1_000, 10_000, 100_000];

async function connections(node: BenchNode): Promise<void> {
  const table: Table = new Map();
  const created = await connect(node.running, 0, createdMax);
  let made = createdMax;
  for (const size of connectionSizes) {
    await copyConnections(node, created, made, size);
    made = size;
    const list = async (name: string, query: (sample: number) => string) =>
      note(
        table,
        name,
        await median((at) => get(node, `/connections?limit=20&credentials=none&${query(at)}`)),
      );
    await list('list', () => '');
    await list('page 1000 back', (at) => `page=${Math.min(50, size / 20 - 1) - (at % 2)}`);
    await list('search of one', (at) => `search=user-${spread(at, size)}@`);
    await list('search of all', (at) => `search=${['user', 'example', 'USER-'][at % 3]}`);
    await list('search of none', (at) => `search=nobody${at}`);
    await list('search by two characters', (at) => `search=${10 + at}`);
    await list('by connection id', (at) => `connectionId=customer-${spread(at, size)}`);
    await list('by end user', (at) => `endUserId=user-${spread(at, size)}`);
    await list('of another integration', () => 'integrationId=other');
    await list('with an error', () => 'errors=auth');
    const read = (at: number) =>
      get(node, `/connections/customer-${1 + at}?provider_config_key=bench`);
    note(table, 'one', await median(read));
    note(table, 'statistics', await median(() => get(node, '/statistics')));
  }
  finish('connections', connectionSizes, table);
}

const runSizes = isQuick ? [2_000, 10_000, 50_000] : [10_000, 100_000, 1_000_000];

async function runs(node: BenchNode): Promise<void> {
  const table: Table = new Map();
  const all: Connection[] = await connect(node.running, 0, 200);
  let made = 0;
  for (const size of runSizes) {
    await run(node.running, all, made, size);
    made = size;
    const list = async (name: string, query: string) =>
      note(table, name, await median((at) => get(node, `/runs?limit=${20 + at}${query}`)));
    await list('list', '');
    await list('of a function', '&function=function-7');
    await list('of a busy connection', '&connection_id=customer-7&provider_config_key=bench');
    await list('of a quiet connection', `&connection_id=${oldest}&provider_config_key=bench`);
    await list('succeeded', '&status=succeeded');
    await list('failed', '&status=failed');
    const id = (at: number) =>
      `01900000-0000-7000-8000-${String(spread(at, size)).padStart(12, '0')}`;
    note(table, 'one', await median((at) => get(node, `/runs/${id(at)}`)));
  }
  finish('runs', runSizes, table);
}

const streamSizes = isQuick ? [50, 200, 800] : [100, 1_000, 10_000];
const recordsPerStream = 20;

async function streams(node: BenchNode): Promise<void> {
  const table: Table = new Map();
  const all: Stream[] = [];
  const { writer } = node.running.services.records;
  for (const size of streamSizes) {
    const before = all.length;
    for (const made of await connect(node.running, before, size)) {
      const {
        environmentUid,
        uid: connectionUid,
        integrationKey: integration,
        connectionId,
      } = made;
      const name = { environmentUid, connectionUid, integration, connectionId } as Pick<
        Stream,
        'environmentUid' | 'connectionUid' | 'integration' | 'connectionId'
      >;
      all.push({ ...name, model: 'Contact', variant: 'base' });
    }
    const origin = newOrigin();
    const fresh = all.slice(before);
    const records = Array.from({ length: recordsPerStream }, (_, at) => ({ id: `r${at}`, size }));
    for (const stream of fresh) await writer.save(stream, origin, records);
    for (const stream of fresh.slice(-8)) await readable(node, await decided(node, stream, origin));
    const page = (stream: Stream | undefined, more: string) =>
      get(node, `/records?model=Contact&${more}`, {
        'provider-config-key': stream?.integration ?? '',
        'connection-id': stream?.connectionId ?? '',
      });
    const at = (sample: number): Stream | undefined => all[spread(sample, size)];
    note(table, 'first page', await median((sample) => page(at(sample), 'limit=10')));
    const heads = new Map<Stream | undefined, string>();
    for (let sample = 0; sample < samples; sample += 1) {
      const { body } = await page(at(sample), 'limit=100');
      const { records: found } = body as { records: { _svc_metadata: { cursor: string } }[] };
      heads.set(at(sample), found.at(-1)?._svc_metadata.cursor ?? '');
    }
    const head = (sample: number) => page(at(sample), `cursor=${heads.get(at(sample))}`);
    note(table, 'page at the head', await median(head));
    const source = node.running.services.records.reader;
    const counted = async (sample: number) => {
      const stream = at(sample);
      const started = performance.now();
      if (stream !== undefined) await source.counts([stream]);
      return { ms: performance.now() - started };
    };
    note(table, 'count', await median(counted));
  }
  finish('streams', streamSizes, table);
}

const payloadSizes = isQuick ? [1_000, 30_000, 300_000] : [1_000, 32_000, 1_000_000];

async function payload(node: BenchNode): Promise<void> {
  const table: Table = new Map();
  const { writer } = node.running.services.records;
  for (const size of payloadSizes) {
    const stream = await node.newStream();
    const headers = {
      'provider-config-key': stream.integration,
      'connection-id': stream.connectionId,
    };
    const saved = await median(async (sample) => {
      const started = performance.now();
      const origin = newOrigin();
      // The whole record is a little smaller than the size.
      const parts = Array.from({ length: size / 10 - 10 }, (_, at) => `${sample}${at}`.padEnd(10));
      const text = parts.join('');
      await writer.save(stream, origin, [{ id: String(sample), text }]);
      await readable(node, await decided(node, stream, origin));
      return { ms: performance.now() - started };
    });
    note(table, 'saved until readable', saved);
    const one = (sample: number) =>
      get(node, `/records?model=Contact&limit=1&ids=${sample}`, headers);
    note(table, 'read', await median(one));
  }
  finish('payload', payloadSizes, table);
}

/** By the bench of restores, in a process of its own. */
function takeover(): void {
  const sizes = isQuick ? [10_000, 30_000, 100_000] : [20_000, 200_000, 1_000_000];
  const table: Table = new Map();
  for (const size of sizes) {
    for (const [name, value] of Object.entries(workload('restore', 'embedded', size))) {
      if (name.endsWith('_per_s')) figures[`takeover.${name}`] = value;
      else if (name.endsWith('_s')) note(table, name.slice(0, -2), 1_000 * value);
    }
  }
  finish('takeover', sizes, table);
}

const dueSizes = isQuick ? [30, 100, 300] : [100, 300, 1_000];
const variantSizes = isQuick ? [5, 20] : [20, 200];

async function together(): Promise<void> {
  await using world = await openCrmWorld();
  const { gateway, provider } = world;
  // The other environment has the same functions and a connection.
  const key = gateway.prodKey;
  const call = async (path: string, body: object, more: object = {}) =>
    succeeded(await gateway.call('POST', path, { body, ...more })) as unknown;
  const credentials = { type: 'API_KEY', apiKey: provider.apiKey };
  const name = { provider_config_key: 'crm', connection_id: 'beside' };
  await call('/integrations', { provider: 'crm', unique_key: 'crm' }, { key });
  await call('/functions/deployments/bundle', await compiledFunctions(), { key });
  await call(
    '/connections',
    { ...name, connection_config: { account: 'beside' }, credentials },
    { key },
  );
  const action = async (): Promise<number> => {
    const started = performance.now();
    const headers = { 'provider-config-key': 'crm', 'connection-id': 'beside' };
    await call('/action/trigger', { action_name: 'echo', input: { a: 1 } }, { key, headers });
    return performance.now() - started;
  };
  const times = async (until: (count: number) => boolean): Promise<number[]> => {
    const found: number[] = [];
    while (!until(found.length)) found.push(await action());
    return found;
  };
  const table: Table = new Map();
  const noteAll = (name: string, all: readonly number[]): void => {
    for (const percent of [50, 99]) note(table, `${name} p${percent}`, percentile(all, percent));
  };
  const ends = (sync: string): number =>
    world.receiver.received.filter(({ body }) => body.includes(`"${sync}"`)).length;
  await times((count) => count === 200);
  let [connected, expected] = [0, 0];
  for (const size of dueSizes) {
    while (connected < size) {
      const more = Math.min(20, size - connected);
      await Promise.all(Array.from({ length: more }, () => world.connect()));
      connected += more;
    }
    // This one starts with the connection.
    while (ends('notes') < connected) await pause(20);
    noteAll('action alone', await times((count) => count === 300));
    const started = performance.now();
    await call('/sync/trigger', { provider_config_key: 'crm', syncs: ['deals'] });
    expected += connected;
    noteAll('action beside', await times(() => ends('deals') >= expected));
    note(table, 'a sync', (performance.now() - started) / connected);
  }
  finish('together', dueSizes, table, 'ms');
  const ids = [(await world.connect()).id, (await world.connect()).id];
  const variants: Table = new Map();
  let created = 0;
  for (const size of variantSizes) {
    const found: number[] = [];
    for (; created < size; created += 1) {
      const begun = performance.now();
      // A connection has up to 100.
      const connection_id = ids[Math.floor(created / limits.connectionVariantsMax)];
      const path = `/sync/deals/variant/v${created}`;
      await call(path, { provider_config_key: 'crm', connection_id });
      found.push(performance.now() - begun);
    }
    note(variants, 'one more', percentile(found.slice(-10), 50));
  }
  finish('variants', variantSizes, variants);
}

for (const [name, part] of Object.entries({ connections, runs, streams, payload })) {
  if (!isWanted(name)) continue;
  await withFolder(async (folder) => {
    await using node = await startNode(folder, 'plain');
    await part(node);
  });
}
if (isWanted('takeover')) takeover();
if (isWanted('together')) await together();
report(figures);
await agent.close();
