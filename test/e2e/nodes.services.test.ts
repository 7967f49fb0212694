/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer */
import '#test/support/processes/with-services.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import { auditStreams } from '#test/support/judges/stream-audit.ts';
import type { Answer, RunningGateway } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';
import { openScanWorld, scansAsked } from '#test/support/worlds/scans.ts';

/** Enough that every node runs some of them. */
const connectionsMade = 12;
const actionsBegun = 6;
const contactsOf = (crm: CrmConnection, revision: number) =>
  Array.from({ length: 25 }, (_, n) => ({ id: `c-${n}`, name: `${crm.id} ${revision * (n % 2)}` }));

let clickhouse: ClickHouseFront;
let world: CrmWorld;
/** The first answers for the world; the third is killed, the second is stopped and goes on. */
let nodes: RunningGateway[] = [];
const connections: CrmConnection[] = [];

beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  world = await openCrmWorld({
    env: { SVC_CLICKHOUSE_URL: clickhouse.url, SVC_RATE_LIMIT_PER_MINUTE: '0' },
  });
  nodes = [world.gateway, await world.startAnother(), await world.startAnother()];
});
afterAll(async () => {
  for (const node of nodes.slice(1)) {
    node.process.kill('SIGCONT');
    await node[Symbol.asyncDispose]();
  }
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

const node = (at: number): RunningGateway => nodes[at % nodes.length]!;

describe('three nodes on one log', () => {
  it('know a key and a connection with the next call, whichever node made them', async () => {
    for (let at = 0; at < connectionsMade; at += 1) {
      const crm = await world.connect();
      connections.push(crm);
      const path = `/connections/${crm.id}?provider_config_key=crm`;
      expect((await node(at + 1).call('GET', path)).body).toMatchObject({ connection_id: crm.id });
      const scopes = ['environment:connections:read'];
      const body = { environment_id: world.environmentId, display_name: randomUUID(), scopes };
      const accountKey = { key: world.gateway.accountKey };
      const made = await node(at).call('POST', '/environment/api-keys', { ...accountKey, body });
      const { secret, id } = succeeded(made).data;
      const reading = { key: secret as string };
      expect((await node(at + 1).call('GET', path, reading)).status).toBe(200);
      const gone = { ...accountKey, body: { environment_id: world.environmentId, key_id: id } };
      succeeded(await node(at + 2).call('DELETE', '/environment/api-keys', gone));
      const refused = await eventually(
        () => node(at + 1).call('GET', path, reading),
        ({ status }) => status === 401,
      );
      expect(refused.body.error.code).toBe('unknown_account');
    }
  });

  it('page alike, wherever the records were saved and projected', async () => {
    for (const crm of connections) crm.account.contacts = contactsOf(crm, 1);
    await Promise.all(connections.map((crm) => crm.trigger('contacts')));
    await Promise.all(connections.map((crm) => crm.webhook('contacts', 1)));
    for (const crm of connections) {
      const pages = await Promise.all(nodes.map((one) => recordsBy(one, crm, 'Contact')));
      expect(pages[0]).toHaveLength(25);
      expect(pages.slice(1)).toEqual([pages[0], pages[0]]);
    }
  });

  it('end no scan early, whichever nodes its pages come from', async () => {
    await using scans = await openScanWorld(nodes);
    for (const tally of (await scans.scan(scansAsked)).values())
      expect(tally).toMatchObject({ endedEarly: 0, missedSome: 0 });
  });

  it('take over from one that is killed and from one that stands still', async () => {
    await beginSteps();
    const [, standing, killed] = nodes;
    const actions = connections.slice(0, actionsBegun).map((crm) => ({
      crm,
      answer: crm.action('request', { endpoint: '/steps/9' }),
    }));
    await Promise.all(actions.map(({ crm }) => crm.account.came('/steps/9')));
    killed!.process.kill('SIGKILL');
    standing!.process.kill('SIGSTOP');
    for (const crm of connections) {
      crm.account.contacts = contactsOf(crm, 2);
      crm.account.openSteps(9);
    }

    // Their partitions are others' within seconds, their runs when they were not heard of for a minute.
    await Promise.all(connections.map((crm) => triggered(crm, 'contacts')));
    await Promise.all(connections.map((crm) => succeededOnce(crm, 'contacts', 2)));
    for (const crm of connections)
      expect(await recordsBy(node(0), crm, 'Contact')).toHaveLength(25);
    await Promise.all(connections.map((crm) => succeededOnce(crm, 'stepwise', 1)));
    const answers = await Promise.all(actions.map(async ({ answer }) => outcomeOf(await answer)));
    expect(answers.filter((outcome) => outcome === 'other')).toEqual([]);
    for (const { crm } of actions) expect(timesAsked(crm, '/steps/9')).toBe(1);
    const attempts = await Promise.all(connections.map(attemptOfSteps));
    expect(Math.max(...attempts)).toBe(2);
    console.log(`${attempts.filter((attempt) => attempt === 2).length} runs were taken over`);
  });

  it('let the stopped one write nothing when it goes on, and give it work again', async () => {
    const before = await Promise.all(connections.map((crm) => recordsBy(node(0), crm, 'Step')));
    nodes[1]!.process.kill('SIGCONT');
    nodes = nodes.slice(0, 2);
    for (const crm of connections) crm.account.contacts = contactsOf(crm, 3);
    const [, back] = nodes;
    await eventually(
      () => back!.call('GET', '/ready', { key: null }),
      ({ status }) => status === 200,
    );
    await Promise.all(connections.map((crm) => triggered(crm, 'contacts', back)));
    await Promise.all(connections.map((crm) => succeededOnce(crm, 'contacts', 3)));
    const after = await Promise.all(connections.map((crm) => recordsBy(back!, crm, 'Step')));
    expect(after).toEqual(before);
    for (const crm of connections) {
      const read = await recordsBy(back!, crm, 'Contact');
      const plain = read.map(({ id, name }) => ({ id, name }));
      expect(plain.sort(byId)).toEqual(contactsOf(crm, 3).sort(byId));
    }
  });

  it('have lost nothing and done nothing twice', async () => {
    for (const one of nodes) {
      await one.stop();
      expect(await one.exited).toBe(0);
    }
    const streams = await auditStreams(join(world.gateway.dataDir));
    for (const crm of connections) {
      const of = (model: string) =>
        streams.find((one) => one.connectionId === crm.id && one.model === model)?.changes ?? [];
      // 25 were added, 12 of them were changed twice; each step was saved once.
      expect(of('Contact').map(({ action }) => action)).toEqual([
        ...Array<string>(25).fill('added'),
        ...Array<string>(24).fill('updated'),
      ]);
      expect(of('Step').map(({ record_id }) => record_id)).toEqual(
        [1, 2, 3, 4, 5, 6].map((step) => `step-${step}`),
      );
      expect(timesAsked(crm, '/steps/1')).toBe(1);
    }
  });
});

const byId = (a: { id: unknown }, b: { id: unknown }) => String(a.id).localeCompare(String(b.id));

const timesAsked = ({ account }: CrmConnection, path: string): number =>
  account.asked.filter((one) => one.path === path).length;

/** Every connection has a run of `stepwise` that saved two steps and waits for the third. */
async function beginSteps(): Promise<void> {
  for (const crm of connections) crm.account.openSteps(2);
  await Promise.all(connections.map((crm) => crm.trigger('stepwise')));
  await Promise.all(connections.map(({ account }) => account.came('/steps/3')));
}

/** While partitions are taken over, a trigger may be answered 503: it is then sent again. */
async function triggered(crm: CrmConnection, sync: string, by = world.gateway): Promise<void> {
  const body = { provider_config_key: 'crm', connection_id: crm.id, syncs: [sync] };
  const answer = await eventually(
    () => by.call('POST', '/sync/trigger', { body }),
    ({ status }) => status !== 503,
  );
  succeeded(answer);
}

/** Resolves when this number of runs of the sync have reported success. A delivery may come twice. */
async function succeededOnce(crm: CrmConnection, sync: string, runs: number): Promise<void> {
  const told = () => {
    const good = crm.webhooks(sync).filter(({ body }) => JSON.parse(body).success === true);
    return new Set(good.map(({ headers }) => headers['webhook-id'])).size;
  };
  await eventually(
    async () => told(),
    (count) => count >= runs,
  );
}

async function recordsBy(one: RunningGateway, { headers }: CrmConnection, model: string) {
  const answer = await one.call('GET', `/records?model=${model}&limit=100`, { headers });
  return succeeded(answer).records as Record<string, unknown>[];
}

/** The attempt that saved the last step: a taken over run goes on after its checkpoint. */
async function attemptOfSteps(crm: CrmConnection): Promise<number> {
  const steps = await recordsBy(node(0), crm, 'Step');
  const from = steps.map(({ attemptOf }) => attemptOf);
  if (from.every((checkpoint) => checkpoint === 0)) return 1;
  expect(from).toEqual([0, 0, 2, 2, 2, 2]);
  return 2;
}

function outcomeOf({ status, body }: Answer): 'done' | 'interrupted' | 'other' {
  if (status === 200) return 'done';
  return status === 503 && body.error.code === 'run_interrupted' ? 'interrupted' : 'other';
}
