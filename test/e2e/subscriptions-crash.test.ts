/* oxlint-disable typescript/no-unsafe-assignment -- a test looks into any answer */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '#test/services/ports.ts';
import {
  consumedIn,
  entriesOf,
  judgeConsumer,
  type ConsumedChange,
} from '#test/support/judges/changes-journal.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { startChild } from '#test/support/processes/child.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const seed = seedOfRun();
console.log(`subscriptions test: SVC_TEST_SEED=${seed}`);
const random = seeded(seed);

const kills = roundsOf({ push: 2, all: 8 });
/** Of each connection; all of them change in each round. */
const contacts = roundsOf({ push: 250, all: 1_000 });
const pageSize = 50;
/** While it is written, the slow consumer falls behind by so many pages. */
const pagesBehind = 20;
const path = '/subscriptions/slow';

const folder = mkdtempSync(join(tmpdir(), 'svc-consumers-'));
let world: CrmWorld;
let connections: readonly CrmConnection[];
/** With services two gateways work on the log, each at an address that it keeps. */
let another: RunningGateway | undefined;
const [port, otherPort] = [String(await freePort()), String(await freePort())];
const addresses = [port, ...(isOnServices() ? [otherPort] : [])].map(
  (one) => `http://127.0.0.1:${one}`,
);
const startOther = () => world.startAnother({ SVC_PORT: otherPort });

/** A process that reads the feed from the journal's end on. */
class Consumer {
  readonly #feed: string;
  readonly journal: string;
  #child: ReturnType<typeof startChild> | undefined;

  constructor(feed: string, name: string) {
    this.#feed = feed;
    this.journal = join(folder, name);
  }

  /** After its death, if it runs. */
  async start(msOfChange: number, limit = pageSize): Promise<void> {
    await this.kill();
    const args = [this.journal, addresses.join(','), this.#feed, limit, msOfChange];
    const { key } = world.gateway;
    this.#child = startChild('changes-child.ts', args, { SVC_SECRET_KEY_DEV: key });
  }

  async kill(): Promise<void> {
    if (this.#child === undefined) return;
    this.#child.process.kill('SIGKILL');
    // Otherwise a response that it did not expect had ended it before.
    expect(await this.#child.ended, this.#child.errors.join('\n')).toBe('SIGKILL');
    this.#child = undefined;
  }
}

const slow = new Consumer(path, 'slow');
/** Keeps its cursor itself. */
const steady = new Consumer('/changes', 'steady');
const slowMs = 40;
const steadyMs = 4;

beforeAll(async () => {
  world = await openCrmWorld({ env: { SVC_PORT: port } });
  if (isOnServices()) another = await startOther();
  connections = await Promise.all(Array.from({ length: 3 }, () => world.connect()));
});
afterAll(async () => {
  await Promise.all([slow.kill(), steady.kill()]);
  await another?.stop();
  await world[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

/** The gateways in turn. */
async function killGateway(round: number): Promise<void> {
  if (another !== undefined && round % 2 === 1) {
    another.process.kill('SIGKILL');
    await another.stop();
    another = await startOther();
    return;
  }
  world.gateway.process.kill('SIGKILL');
  await world.restart();
}

/** The runs of a killed gateway would be tried again a minute later. */
async function cancelLostRuns(): Promise<void> {
  const { data } = succeeded(await world.gateway.call('GET', '/runs?limit=10')) as {
    data: { id: string; status: string }[];
  };
  for (const { id } of data.filter(({ status }) => status === 'running'))
    succeeded(await world.gateway.call('POST', `/runs/${id}/cancel`));
}

async function behind(): Promise<number> {
  const { data } = succeeded(await world.gateway.call('GET', path));
  return (data as { behind: number }).behind;
}

/** Changes every contact, in runs that are killed, and again in runs that succeed; resolves with the lag at its end. */
async function writeThroughKills(round: number): Promise<number> {
  for (const { account } of connections) {
    account.contacts = Array.from({ length: contacts }, (_, n) => ({
      id: `c-${n}`,
      name: `${round}`,
    }));
  }
  await Promise.all(connections.map((crm) => crm.trigger('contacts')));
  await wait(random.int(1_000));
  if (round < kills) {
    await killGateway(round);
    await cancelLostRuns();
  }
  const runs = Promise.all(connections.map((crm) => crm.run('contacts')));
  await wait(random.int(1_000));
  await Promise.all([slow.start(slowMs), steady.start(steadyMs)]);
  for (const run of await runs) expect(run).toMatchObject({ success: true });
  return behind();
}

async function allChanges(): Promise<ConsumedChange[]> {
  const all: ConsumedChange[] = [];
  for (let query = '', hasMore = true; hasMore;) {
    const page = succeeded(await world.gateway.call('GET', `/changes?limit=1000${query}`)) as {
      readonly changes: ConsumedChange[];
      readonly cursor: string;
      readonly has_more: boolean;
    };
    all.push(...page.changes);
    query = `&cursor=${page.cursor}`;
    hasMore = page.has_more;
  }
  return all;
}

it('a slow consumer misses no change, in order, through kills of itself and of gateways', async () => {
  succeeded(await world.gateway.call('PUT', path, { body: {} }));
  await Promise.all([slow.start(slowMs), steady.start(steadyMs)]);
  const lags: number[] = [];
  for (let round = 0; round < kills || lags.at(-1)! < pagesBehind * pageSize; round += 1)
    lags.push(await writeThroughKills(round));
  console.log(`behind at the end of each round: ${lags.join(', ')}`);
  expect(lags.at(-1)).toBeGreaterThanOrEqual(pagesBehind * pageSize);

  // The rest is read quickly, and a gateway and the consumer die meanwhile.
  await slow.start(1);
  await wait(random.int(1_000));
  await killGateway(kills);
  await slow.start(1);
  await expect.poll(behind).toBe(0);

  const truth = await allChanges();
  const all = connections.length * contacts * lags.length;
  expect(truth.length).toBeGreaterThanOrEqual(all);
  const missing = () =>
    truth.length - new Set(consumedIn(entriesOf(steady.journal)).map(({ id }) => id)).size;
  await expect.poll(missing).toBe(0);
  await Promise.all([slow.kill(), steady.kill()]);
  for (const [name, { journal }] of Object.entries({ slow, steady })) {
    const entries = entriesOf(journal);
    const again = judgeConsumer(entries, truth);
    const starts = entries.filter(({ type }) => type === 'started').length;
    console.log(`${name}: ${truth.length} changes, ${again} came again, ${starts} starts`);
  }
});
