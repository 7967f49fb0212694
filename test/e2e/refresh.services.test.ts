/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer */
import '#test/support/processes/with-services.ts';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Answer, RunningGateway } from '#test/support/processes/gateway.ts';
import {
  fetchFrom,
  keptS,
  openRefreshNodes,
  type RefreshedProvider,
  type RefreshNodes,
} from '#test/support/worlds/refresh-nodes.ts';

/** Fetches on each of the two that live, beside the one that dies. */
const fetchesEach = 10;

let nodes: RefreshNodes;
beforeAll(async () => {
  nodes = await openRefreshNodes(2);
});
afterAll(() => nodes[Symbol.asyncDispose]());
beforeEach(() => {
  for (const { endpoint } of [nodes.rotating, nodes.keeping]) endpoint.grants.length = 0;
});

const outcomesOf = ({ endpoint }: RefreshedProvider) =>
  endpoint.grants.map(({ outcome }) => outcome);

const tokenIn = ({ status, body }: Answer): string =>
  status === 200 ? (body.credentials.access_token as string) : `${status} ${JSON.stringify(body)}`;

/** Many fetches of each living node, all at once. */
const fetchAll = (provider: RefreshedProvider, id: string): Promise<Answer[]> =>
  Promise.all(
    nodes.living.flatMap((node) =>
      Array.from({ length: fetchesEach }, () => fetchFrom(node, provider, id)),
    ),
  );

/** All got the same new token. */
function expectOneToken(answers: readonly Answer[]): void {
  const tokens = [...new Set(answers.map(tokenIn))];
  expect(tokens).toHaveLength(1);
  expect(tokens[0]).toMatch(/^at-[0-9a-f]{64}$/);
}

/** Refused as what cannot be known to be unused, and shown so on every node. */
async function expectGivenUp(answers: readonly Answer[], provider: RefreshedProvider, id: string) {
  for (const { status, body } of answers) {
    expect([status, body.error.code]).toEqual([424, 'invalid_credentials']);
    expect(body.error.payload.connection).toMatchObject({
      errors: [{ type: 'auth' }],
      credentials: {},
    });
  }
  const query = `connectionId=${id}&integrationId=${provider.name}`;
  for (const node of nodes.living) {
    const { body } = await node.call('GET', `/connections?${query}`);
    expect(body.connections).toMatchObject([{ errors: [{ type: 'auth' }] }]);
  }
}

/** Has the node begin the refresh, and resolves when that has killed it. */
async function dieRefreshing(
  node: RunningGateway,
  provider: RefreshedProvider,
  id: string,
): Promise<void> {
  const asked = fetchFrom(node, provider, id).then(
    ({ status }) => status,
    () => 'cut off',
  );
  await node.exited;
  expect(node.process.signalCode).toBe('SIGKILL');
  expect(await asked).toBe('cut off');
}

describe('an expired connection over three processes', () => {
  it('is refreshed exactly once by 1,000 fetches at once, and none fails', async () => {
    const { rotating, living } = nodes;
    const third = await nodes.startAnother();
    const id = await nodes.connectExpired(rotating);
    const release = Promise.withResolvers<undefined>();
    rotating.endpoint.hold(release.promise);
    const all = [...living, third];
    const fetches = Array.from({ length: 1000 }, (_, at) =>
      fetchFrom(all[at % all.length]!, rotating, id),
    );
    await rotating.endpoint.came(1);
    release.resolve(undefined);
    expectOneToken(await Promise.all(fetches));
    expect(outcomesOf(rotating)).toEqual(['granted']);
    await third.stop();
  });

  it('whose refresher is killed before it said so is refreshed once, and no living node fails', async () => {
    const { rotating } = nodes;
    const dying = await nodes.startAnother('refresh:before-intent');
    const id = await nodes.connectExpired(rotating);
    await dieRefreshing(dying, rotating, id);
    expectOneToken(await fetchAll(rotating, id));
    expect(outcomesOf(rotating)).toEqual(['granted']);
  });

  it('whose refresher is killed after it said so never shows a token that may rotate again', async () => {
    const { rotating } = nodes;
    const dying = await nodes.startAnother('refresh:after-intent');
    const id = await nodes.connectExpired(rotating);
    await dieRefreshing(dying, rotating, id);
    await expectGivenUp(await fetchAll(rotating, id), rotating, id);
    expect(outcomesOf(rotating)).toEqual([]);
  });

  it('whose refresher is killed while the provider answers never shows the token again', async () => {
    const { interrupted } = nodes;
    const dying = await nodes.startAnother();
    const id = await nodes.connectExpired(interrupted);
    const release = Promise.withResolvers<undefined>();
    interrupted.endpoint.hold(release.promise);
    const asked = fetchFrom(dying, interrupted, id).catch(() => 'cut off');
    await interrupted.endpoint.came(1);
    dying.process.kill('SIGKILL');
    expect(await asked).toBe('cut off');
    release.resolve(undefined);
    await expectGivenUp(await fetchAll(interrupted, id), interrupted, id);
    expect(outcomesOf(interrupted)).toEqual(['granted']);
  });

  it('whose refresher is killed after it said so is refreshed once more where tokens stay', async () => {
    const { keeping, living } = nodes;
    const dying = await nodes.startAnother('refresh:after-intent');
    const id = await nodes.connectExpired(keeping);
    const refreshed = await fetchFrom(living[0]!, keeping, id);
    expectOneToken([refreshed]);
    const expiresAt = Date.parse(refreshed.body.credentials.expires_at as string);
    await wait(expiresAt - (keptS * 1000) / 4 - Date.now());
    await dieRefreshing(dying, keeping, id);
    expectOneToken(await fetchAll(keeping, id));
    expect(outcomesOf(keeping)).toEqual(['granted', 'granted']);
    const shown = keeping.endpoint.grants.map(({ refreshToken }) => refreshToken);
    expect(new Set(shown).size).toBe(1);
  });
});
