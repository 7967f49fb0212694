/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer */
import '#test/support/processes/with-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  startClickHouseFront,
  type ClickHouseFront,
} from '#test/support/fakes/clickhouse-front.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const contacts = (version: number) =>
  Array.from({ length: 60 }, (_, n) => ({ id: `c-${n}`, name: `version ${version}` }));

let clickhouse: ClickHouseFront;
let world: CrmWorld;
/** Three projectors of the same tables; the last is killed. */
let nodes: RunningGateway[] = [];
const connections: CrmConnection[] = [];
beforeAll(async () => {
  clickhouse = await startClickHouseFront();
  world = await openCrmWorld({ env: { SVC_CLICKHOUSE_URL: clickhouse.url }, beside: [{}, {}] });
  nodes = [world.gateway, ...world.beside];
  for (let made = 0; made < 6; made += 1) connections.push(await world.connect());
  await save(1);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await clickhouse[Symbol.asyncDispose]();
});

/** Each connection gets a version. While partitions move a trigger may be answered 503. */
async function save(version: number): Promise<void> {
  const saves = connections.map(async (crm) => {
    crm.account.contacts = contacts(version);
    for (let isSaved = false; !isSaved;) {
      const runs = crm.webhooks('contacts').length;
      const trigger = () => crm.trigger('contacts');
      succeeded(await eventually(trigger, ({ status }) => status !== 503));
      isSaved = (await crm.webhook('contacts', runs + 1)).success;
    }
  });
  await Promise.all(saves);
}

interface Generation {
  readonly generation: number;
  readonly state: string;
  readonly verification: { readonly state: string } | null;
}

const ask = async (
  node: RunningGateway,
  method: string,
  path: string,
  body?: object,
): Promise<{ readonly generations: readonly Generation[] }> =>
  succeeded(
    await node.call(method, `/projections/records${path}`, {
      key: node.accountKey,
      ...(body === undefined ? {} : { body }),
    }),
  ).data;
const active = async (node: RunningGateway): Promise<Generation> =>
  (await ask(node, 'GET', '')).generations.find(({ state }) => state === 'active')!;
const beside = async (): Promise<Generation> =>
  (await ask(nodes[0]!, 'GET', '')).generations.find(({ state }) => state !== 'active')!;

async function read(node: RunningGateway, { headers }: CrmConnection, cursor?: string) {
  const query = new URLSearchParams({ model: 'Contact', limit: '100' });
  if (cursor !== undefined) query.set('cursor', cursor);
  const answer = await node.call('GET', `/records?${query.toString()}`, { headers });
  return succeeded(answer).records as {
    id: string;
    name: string;
    _svc_metadata: { cursor: string };
  }[];
}

describe('tables that several projectors share', () => {
  it('are rebuilt while all of them read and write, also when one is killed meanwhile', async () => {
    const [crm] = connections as [CrmConnection];
    const first = await read(nodes[0]!, crm);
    const cursor = first[29]!._svc_metadata.cursor;
    await ask(nodes[1]!, 'POST', '/rebuild', { pace_percent: 10 });
    let isSwitched = false;
    // Reads never fail, on any node that lives.
    const readers = nodes.slice(0, 2).map(async (node) => {
      let reads = 0;
      for (; !isSwitched; reads += 1) expect(await read(node, crm)).toHaveLength(60);
      return reads;
    });
    nodes[2]!.process.kill('SIGKILL');
    await save(2);
    await eventually(beside, ({ state }) => state === 'ready');
    await ask(nodes[1]!, 'POST', '/verify');
    await eventually(beside, ({ verification }) => verification?.state !== 'running');
    expect((await beside()).verification).toMatchObject({ state: 'passed', expected_rows: 360 });
    await ask(nodes[0]!, 'POST', '/switch', {});
    await save(3);
    for (const node of nodes.slice(0, 2)) {
      await eventually(
        () => active(node),
        ({ generation }) => generation === 2,
      );
    }
    isSwitched = true;
    for (const reads of await Promise.all(readers)) expect(reads).toBeGreaterThan(0);

    for (const one of connections) {
      const pages = await Promise.all(nodes.slice(0, 2).map((node) => read(node, one)));
      expect(pages[0]!.map(({ name }) => name)).toEqual(Array<string>(60).fill('version 3'));
      expect(pages[1]).toEqual(pages[0]);
    }
    const after = await read(nodes[1]!, crm, cursor);
    expect(new Set(after.map(({ id }) => id)).size).toBe(60);
    expect(after.map(({ name }) => name)).toEqual(Array<string>(60).fill('version 3'));
  });

  it('are rolled back, and have everything as well', async () => {
    await ask(nodes[1]!, 'POST', '/rollback');
    await save(4);
    for (const one of connections) {
      const pages = await Promise.all(nodes.slice(0, 2).map((node) => read(node, one)));
      expect(pages[0]!.map(({ name }) => name)).toEqual(Array<string>(60).fill('version 4'));
      expect(pages[1]).toEqual(pages[0]);
    }
    expect((await active(nodes[0]!)).generation).toBe(1);
  });
});
