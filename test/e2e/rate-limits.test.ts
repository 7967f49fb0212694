/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LimitedUpstream } from '#test/support/fakes/limited-upstream.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { isOnServices } from '#test/support/processes/deployment.ts';
import type { RunningGateway } from '#test/support/processes/gateway.ts';
import { openCrmWorld, succeeded, type CrmWorld } from '#test/support/worlds/crm-world.ts';
import { compileFunctions } from '#test/support/worlds/deploy.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';

const integration = 'limited';
const headers = { 'provider-config-key': integration, 'connection-id': 'c' };

const pulls = 6;
/** Its requests come one after the other, and wait for the limit by themselves. */
const pull = `import { createAction } from 'svc';
import { z } from 'zod';

const action = createAction({
  description: 'Reads ${pulls} pages',
  input: z.object({ from: z.number() }),
  output: z.object({ paths: z.array(z.string()) }),
  exec: async (svc, { from }) => {
    const paths = [];
    for (let page = 0; page < ${pulls}; page += 1) {
      const { data } = await svc.get<{ path: string }>({ endpoint: '/pull/' + from + '/' + page });
      paths.push(data.path);
    }
    return { paths };
  },
});

export default action;
`;

let stack: AsyncDisposableStack;
let upstream: LimitedUpstream;
let world: CrmWorld;
/** With services two gateways share the limit. */
let nodes: RunningGateway[];

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  upstream = stack.use(await new LimitedUpstream().listen());
  const definition = {
    display_name: 'Limited',
    categories: [],
    docs: 'https://docs.example',
    auth_mode: 'NONE',
    proxy: { base_url: upstream.url },
  };
  const hosts = [new URL(upstream.url).host];
  world = stack.use(await openCrmWorld({ definitions: { limited: definition }, hosts }));
  nodes = [world.gateway];
  if (isOnServices()) nodes.push(stack.use(await world.startAnother()));
  const body = { provider: 'limited', unique_key: integration };
  succeeded(await world.gateway.call('POST', '/integrations', { body }));
  const connection = { provider_config_key: integration, connection_id: 'c' };
  const credentials = { type: 'NONE' };
  succeeded(
    await world.gateway.call('POST', '/connections', { body: { ...connection, credentials } }),
  );
  using project = functionsProject({ [`${integration}/actions/pull.ts`]: pull });
  const functions = await compileFunctions(project.root);
  succeeded(await world.gateway.call('POST', '/functions/deployments/bundle', { body: functions }));
});
afterAll(() => stack.disposeAsync());

async function limit(setting: object | string): Promise<void> {
  const body = { rate_limit: setting };
  succeeded(await world.gateway.call('PATCH', `/integrations/${integration}`, { body }));
}

describe('a limit of requests that functions and callers of all nodes share', () => {
  const requests = 60;
  const seconds = roundsOf({ push: 12, all: 60 });

  it('is never exceeded; no request is lost, no run fails', async () => {
    upstream.arrivals.length = 0;
    await limit({ requests, seconds, per: 'integration' });
    const node = (n: number): RunningGateway => nodes[n % nodes.length]!;
    const runs = Array.from({ length: 20 }, async (_, from) => {
      const body = { action_name: 'pull', input: { from } };
      const { paths } = succeeded(
        await node(from).call('POST', '/action/trigger', { headers, body }),
      ) as { readonly paths: readonly string[] };
      return paths;
    });
    const calls = Array.from({ length: 40 }, async (_, n) => {
      const asked = { ...headers, retries: '1' };
      const answer = await node(n).call('GET', `/proxy/call/${n}`, { headers: asked });
      return [(succeeded(answer) as { readonly path: string }).path];
    });
    const came = (await Promise.all([...runs, ...calls])).flat();
    const expected = [
      ...Array.from(
        { length: 20 * pulls },
        (_, n) => `/pull/${Math.floor(n / pulls)}/${n % pulls}`,
      ),
      ...Array.from({ length: 40 }, (_, n) => `/call/${n}`),
    ];
    expect(came.toSorted()).toEqual(expected.toSorted());
    expect(upstream.arrivals).toHaveLength(expected.length);
    expect(upstream.busiest(seconds * 1000)).toBeLessThanOrEqual(requests);
    const first = upstream.arrivals[0]!;
    const whole = upstream.arrivals.filter((at) => at < first + 2 * seconds * 1000).length;
    console.info(
      `rate limit: ${nodes.length} nodes, at most ${upstream.busiest(seconds * 1000)} of ${requests} requests in any ${seconds} s, ${whole} in the first two spans`,
    );
  });

  it('says how much is used, and what waits says so in its log', async () => {
    const use = await world.gateway.call('GET', `/integrations/${integration}?include=rate_limit`);
    expect(succeeded(use).data).toMatchObject({
      rate_limit: { requests, seconds, per: 'integration' },
      rate_limit_use: { limit: { requests, seconds, per: 'integration' }, paused_seconds: 0 },
    });
    const search = { search: `${requests} requests in ${seconds} s for the integration` };
    await expect
      .poll(async () => {
        const found = await world.gateway.call('POST', '/logs/operations', { body: search });
        return (succeeded(found).data as unknown[]).length;
      })
      .toBeGreaterThan(0);
  });
});
