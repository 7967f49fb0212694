/* oxlint-disable typescript/no-unsafe-member-access --
   a test looks into any answer */
import '#test/support/processes/with-services.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentEnv } from '#test/support/processes/deployment.ts';
import { earlierRelease } from '#test/support/processes/earlier-release.ts';
import type { GatewayAccess, RunningGateway } from '#test/support/processes/gateway.ts';
import { checkUpgrade } from '#test/support/processes/starts.ts';
import { openCrmWorld, type CrmConnection, type CrmWorld } from '#test/support/worlds/crm-world.ts';

const contactsOf = (revision: number) =>
  Array.from({ length: 25 }, (_, n) => ({ id: `c-${n}`, name: `contact ${revision * (n % 2)}` }));

let earlier: string;
/** Its first node is of the earlier release, until the node is restarted with this one. */
let world: CrmWorld;
let next: RunningGateway;
let early: CrmConnection;
beforeAll(async () => {
  earlier = await earlierRelease();
  world = await openCrmWorld({ earlier });
  early = await world.connect();
  early.account.contacts = contactsOf(1);
  await early.run('contacts');
  next = await world.startAnother();
});
afterAll(async () => {
  await next[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Every record with its cursor, from one node. */
async function recordsBy(node: GatewayAccess, { headers }: CrmConnection): Promise<unknown[]> {
  const answer = await node.call('GET', '/records?model=Contact&limit=100', { headers });
  expect(answer.status).toBe(200);
  return answer.body.records as unknown[];
}

async function expectSamePages(nodes: readonly GatewayAccess[], crm: CrmConnection) {
  const pages = await Promise.all(nodes.map((node) => recordsBy(node, crm)));
  expect(pages[0]).toHaveLength(25);
  for (const page of pages) expect(page).toEqual(pages[0]);
}

describe('an earlier release and this one as nodes on one log', () => {
  it('is what the upgrade check allows', async () => {
    const { code, out } = await checkUpgrade(next.dataDir, deploymentEnv(world.gateway.dataDir));
    expect(out).toMatch(/^opens +schemas +\d+ topics, compatible/m);
    expect(code).toBe(0);
  });

  it('serve the same records, whichever wrote them', async () => {
    await expectSamePages([world.gateway, next], early);
    early.account.contacts = contactsOf(2);
    const syncs = { syncs: ['contacts'], provider_config_key: 'crm', connection_id: early.id };
    const started = await next.call('POST', '/sync/trigger', { body: syncs });
    expect(started.status).toBe(200);
    expect((await early.webhook('contacts', 2)).responseResults.updated).toBe(12);
    await expectSamePages([world.gateway, next], early);
  });

  it('know what the other has changed', async () => {
    for (const [made, read] of [
      [world.gateway, next],
      [next, world.gateway],
    ] as const) {
      const body = { unique_key: `of-${made === next ? 'next' : 'earlier'}`, provider: 'crm' };
      expect((await made.call('POST', '/integrations', { body })).status).toBe(200);
      const path = `/integrations/${body.unique_key}`;
      expect((await read.call('GET', path)).body.data).toMatchObject(body);
    }
  });

  it('an upgraded node goes on with the data folder of the earlier one', async () => {
    expect(await world.restart()).toBe(0);
    early.account.contacts = contactsOf(3);
    const { responseResults } = await early.run('contacts');
    expect(responseResults).toMatchObject({ added: 0, updated: 12, deleted: 0 });
    await expectSamePages([world.gateway, next], early);
  });

  it('the earlier release joins again: a rollback above the floor', async () => {
    await using back = await world.startAnother({}, earlier);
    await expectSamePages([world.gateway, next, back], early);
    const { headers, id } = await world.connect();
    const path = `/connections/${id}?provider_config_key=crm`;
    expect((await back.call('GET', path, { headers })).body).toMatchObject({ connection_id: id });
  });
});
