/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import {
  changesOfRuns,
  deployOnChange,
  subscriptionOf,
  type SeenChange,
} from '#test/support/worlds/on-change.ts';

const seed = seedOfRun();
console.log(`on-change test: SVC_TEST_SEED=${seed}`);
const random = seeded(seed);

const rounds = 4;
const contactsEach = 40;
const failing = 'c-13';

let world: CrmWorld;
let connections: readonly CrmConnection[];
/** With services two gateways work on the log. */
let another: RunningGateway | undefined;
let deaths = 0;
/** Settings of the next process that is started. */
let settings: () => Readonly<Record<string, string>> = () => ({});

beforeAll(async () => {
  world = await openCrmWorld();
  if (isOnServices()) another = await world.startAnother();
  connections = [await world.connect(), await world.connect()];
});
afterAll(async () => {
  await another?.stop();
  await world[Symbol.asyncDispose]();
});

const nodes = (): readonly RunningGateway[] => [
  world.gateway,
  ...(another === undefined ? [] : [another]),
];

/** Where it dies by itself, after some deliveries. */
const withFaultPoint = () => ({
  SVC_TEST_FAULT_POINT: `deliveries:after-${random.pick(['begin', 'send'] as const)}@${1 + random.int(8)}`,
});

async function startInPlaceOf(node: RunningGateway): Promise<void> {
  const isFirst = node !== another;
  await node.stop();
  const start = async (more: Readonly<Record<string, string>>): Promise<void> => {
    if (isFirst) await world.restart(undefined, more);
    else another = await world.startAnother(more);
  };
  // It may die at its point before it is ready.
  await start(settings()).catch(() => start({}));
}

const isDown = ({ process: { exitCode, signalCode } }: RunningGateway): boolean =>
  exitCode !== null || signalCode !== null;

/** Starts the processes that have died. The runs of a dead process would be tried again a minute later. */
async function revive(): Promise<void> {
  for (const node of nodes().filter(isDown)) {
    deaths += 1;
    await startInPlaceOf(node);
    await attempt(cancelLostRuns);
  }
}

async function cancelLostRuns(): Promise<void> {
  const { data } = succeeded(await world.gateway.call('GET', '/runs?limit=20')) as {
    data: { id: string; status: string }[];
  };
  for (const { id } of data.filter(({ status }) => status === 'running'))
    await world.gateway.call('POST', `/runs/${id}/cancel`);
}

/** Until it succeeds, although a process dies meanwhile. */
async function attempt<T>(task: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures += 1) {
    try {
      return await task();
    } catch (error) {
      if (failures > 20) throw error;
      await wait(250);
      if (nodes().some(isDown)) await revive();
    }
  }
}

async function truthOf(): Promise<SeenChange[]> {
  const changes: SeenChange[] = [];
  let query = '';
  for (;;) {
    const page = succeeded(await world.gateway.call('GET', `/changes?limit=100${query}`)) as {
      changes: SeenChange[];
      cursor: string;
      has_more: boolean;
    };
    changes.push(...page.changes);
    if (!page.has_more) return changes;
    query = `&cursor=${page.cursor}`;
  }
}

const version = (round: number, isFixed = false) =>
  deployOnChange(
    world,
    'slow',
    `await svc.log('version ${round}'); await new Promise((resolve) => setTimeout(resolve, 20));
     if (${!isFixed} && changes.some((one) => one.record_id === '${failing}')) throw new Error('a bad one');`,
    { from: 'start', batchSize: 7, retries: 1 },
  );

const save = (name: string): void => {
  for (const { account } of connections)
    account.contacts = Array.from({ length: contactsEach }, (_, n) => ({ id: `c-${n}`, name }));
};

/** Posted changes whose request was answered with 200, in order. */
const posted: SeenChange[] = [];

async function subscribeAddress(): Promise<void> {
  world.receiver.answer = ({ path, body }) => {
    if (!path.startsWith('/posted')) return 200;
    if (random.int(8) === 0) return 503;
    posted.push(...(JSON.parse(body) as { changes: SeenChange[] }).changes);
    return 200;
  };
  const target = { type: 'webhook', url: `${world.receiver.url}/posted`, batch_size: 5 };
  const body = { model: 'Contact', from: 'start', target };
  succeeded(await world.gateway.call('PUT', '/subscriptions/posted', { body }));
}

function expectInOrder(changes: readonly SeenChange[]): void {
  for (const [key, some] of Map.groupBy(
    changes,
    (one) => `${one.connection_id} ${one.record_id}`,
  )) {
    const seqs = some.map(({ seq }) => seq);
    expect(seqs, key).toEqual(seqs.toSorted((a, b) => a - b));
  }
}

const idsOf = (changes: readonly SeenChange[]): string[] => changes.map(({ id }) => id).toSorted();

/** Of all changes, until the list of parked changes is empty. */
async function replayParked(): Promise<number> {
  const path = `${subscriptionOf('slow')}/parked`;
  const places = new Set<string>();
  for (;;) {
    const { data } = succeeded(await world.gateway.call('GET', path)) as {
      data: { place: string; replaying: boolean }[];
    };
    if (data.length === 0) return places.size;
    for (const { place } of data.filter(({ replaying }) => !replaying)) {
      places.add(place);
      // Released meanwhile: 404.
      await world.gateway.call('POST', `${path}/${place}/replay`);
    }
    await wait(250);
  }
}

it('sees each change in one successful run, in order, through kills and deployments', async () => {
  await version(0);
  await subscribeAddress();
  settings = withFaultPoint;
  for (const node of nodes()) await startInPlaceOf(node);
  for (let round = 1; round <= rounds; round += 1) {
    save(`${round}`);
    for (const crm of connections) await attempt(() => crm.trigger('contacts'));
    const timeout = AbortSignal.timeout(500 + random.int(2_500));
    while (!timeout.aborted && !nodes().some(isDown)) await wait(25);
    if (!nodes().some(isDown)) random.pick(nodes()).process.kill('SIGKILL');
    await attempt(() => version(round));
    await revive();
  }
  settings = () => ({});
  for (const node of nodes()) await startInPlaceOf(node);
  await cancelLostRuns();
  save('last');
  for (const crm of connections) expect(await crm.run('contacts')).toMatchObject({ success: true });

  const truth = await truthOf();
  expect(truth.length).toBeGreaterThanOrEqual(2 * connections.length * contactsEach);
  const bad = truth.filter(({ record_id: id }) => id === failing);
  await eventually(
    async () => (await changesOfRuns(world, 'slow')).flat(),
    (seen) => seen.length >= truth.length - bad.length,
  );
  await version(rounds + 1, true);
  const replayed = await replayParked();
  const seen = await eventually(
    async () => (await changesOfRuns(world, 'slow')).flat(),
    (all) => all.length >= truth.length,
  );
  console.log(`${truth.length} changes, ${replayed} parked and replayed, ${deaths} kills`);
  expect(replayed).toBe(bad.length);
  expect(idsOf(seen)).toEqual(idsOf(truth));
  expectInOrder(seen.filter(({ record_id: id }) => id !== failing));

  await eventually(
    () => Promise.resolve(new Set(idsOf(posted)).size),
    (size) => size >= truth.length,
  );
  expect(new Set(idsOf(posted))).toEqual(new Set(idsOf(truth)));
  expectInOrder([...new Map(posted.map((one) => [one.id, one])).values()]);
  const { data } = succeeded(await world.gateway.call('GET', '/subscriptions/posted'));
  expect(data).toMatchObject({ parked: 0 });
});
