/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { LimitedUpstream } from '#test/support/fakes/limited-upstream.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';
import { openProxyWorld, type ProxyWorld } from '#test/support/worlds/proxy-world.ts';

const anHour = (requests: number, per = 'integration') => ({ requests, seconds: 3600, per });

let stack: AsyncDisposableStack;
let upstream: LimitedUpstream;
let world: ProxyWorld;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  upstream = stack.use(await new LimitedUpstream().listen());
  const folder = await mkdtemp(join(tmpdir(), 'svc-rate-limits-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const declared = { alias: 'upstream', proxy: { base_url: upstream.url, rate_limit: anHour(2) } };
  await writeFile(join(folder, 'with-limit.json'), JSON.stringify({ declared }));
  const env = { SVC_PROXY_TIMEOUT_SECONDS: '20', SVC_PROVIDERS: folder };
  world = stack.use(await openProxyWorld(folder, upstream.url, env));
});
afterAll(() => stack.disposeAsync());

/** Each test has its own. */
let integration = '';
let integrations = 0;
beforeEach(async () => {
  upstream.arrivals.length = 0;
  integrations += 1;
  await integrate('upstream');
  await connect('c');
});

async function integrate(provider: string): Promise<void> {
  integration = `${provider}-${integrations}`;
  const body = { provider, unique_key: integration };
  succeeded(await world.gateway.call('POST', '/integrations', { body }));
}

async function connect(id: string): Promise<void> {
  const credentials = { type: 'API_KEY', apiKey: 'key' };
  const body = { provider_config_key: integration, connection_id: id, credentials };
  succeeded(await world.gateway.call('POST', '/connections', { body }));
}

async function set(rate_limit: unknown): Promise<void> {
  const body = { rate_limit };
  succeeded(await world.gateway.call('PATCH', `/integrations/${integration}`, { body }));
}

const call = (more: Readonly<Record<string, string>> = {}) =>
  world.gateway.call('GET', '/proxy/items', {
    headers: { ...world.headers, 'provider-config-key': integration, ...more },
  });
const statuses = async (times: number) => {
  const answered: number[] = [];
  for (let n = 0; n < times; n += 1) answered.push((await call()).status);
  return answered;
};

async function use() {
  const shown = await world.gateway.call('GET', `/integrations/${integration}?include=rate_limit`);
  return (succeeded(shown).data as { readonly rate_limit_use: object }).rate_limit_use;
}

describe('the shared limit of a provider', () => {
  it('is none until it is set; then what is above it is not sent, and says when it may be', async () => {
    expect(await use()).toEqual({ limit: null, requests: null, paused_seconds: null });
    expect(await statuses(6)).toEqual([200, 200, 200, 200, 200, 200]);
    const limit = anHour(3);
    await set(limit);
    expect(await statuses(3)).toEqual([200, 200, 200]);
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(refused.body).toMatchObject({ error: { code: 'provider_limit_reached' } });
    const seconds = Number(refused.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(1.04 * limit.seconds);
    expect(upstream.arrivals).toHaveLength(9);
    expect(await use()).toEqual({ limit, requests: 3, paused_seconds: 0 });
  });

  it('lets a caller wait who takes retries, within the time of the call', async () => {
    await set({ requests: 1, seconds: 1, per: 'integration' });
    expect((await call()).status).toBe(200);
    expect((await call({ retries: '1' })).status).toBe(200);
    expect(upstream.arrivals[1]! - upstream.arrivals[0]!).toBeGreaterThan(1_000);
    await set(anHour(1));
    expect((await call()).status).toBe(200);
    const late = await call({ retries: '10' });
    expect(late.body).toMatchObject({ error: { code: 'provider_limit_reached' } });
  });

  it('pauses for as long as the provider says that its own is reached', async () => {
    await set(anHour(1_000));
    upstream.answers.push({ status: 429, headers: { 'retry-after': '600' } });
    const passed = await call();
    expect(passed.status).toBe(429);
    expect(passed.body).not.toHaveProperty('error');
    expect((await call()).body).toMatchObject({ error: { code: 'provider_limit_reached' } });
    expect(upstream.arrivals).toHaveLength(1);
    const { paused_seconds: paused } = (await use()) as { readonly paused_seconds: number };
    expect(paused).toBeGreaterThan(500);
    expect(paused).toBeLessThanOrEqual(600);
  });

  it('pauses when the provider says that no request is left', async () => {
    await set(anHour(1_000));
    const left = (remaining: string) => ({
      status: 200,
      headers: { 'x-ratelimit-remaining': remaining, 'x-ratelimit-reset': '300' },
    });
    upstream.answers.push(left('1'), left('0'));
    expect(await statuses(3)).toEqual([200, 200, 429]);
    expect(upstream.arrivals).toHaveLength(2);
  });

  it('is counted for each connection where it is set so', async () => {
    await connect('other');
    const limit = anHour(1, 'connection');
    await set(limit);
    expect(await statuses(2)).toEqual([200, 429]);
    expect((await call({ 'connection-id': 'other' })).status).toBe(200);
    expect(await use()).toEqual({ limit, requests: null, paused_seconds: null });
  });

  it('is the one of the definition until the integration sets its own, or none', async () => {
    await integrate('declared');
    await connect('c');
    expect(await statuses(3)).toEqual([200, 200, 429]);
    expect(await use()).toEqual({ limit: anHour(2), requests: 2, paused_seconds: 0 });
    expect(upstream.arrivals).toHaveLength(2);
    await set(anHour(3));
    expect(await statuses(2)).toEqual([200, 429]);
    await set('none');
    expect(await statuses(3)).toEqual([200, 200, 200]);
    await set('provider');
    expect((await call()).body).toMatchObject({ error: { code: 'provider_limit_reached' } });
  });

  it('is the one of the catalog for an integration of a built-in provider', async () => {
    const declaring = builtInCatalogue()
      .all()
      .filter(({ proxy }) => proxy?.rate_limit !== undefined);
    expect(declaring.length).toBeGreaterThanOrEqual(60);
    const [{ name, proxy }] = declaring as [Provider];
    await integrate(name);
    expect(await use()).toMatchObject({ limit: proxy?.rate_limit });
    await set('none');
    expect(await use()).toMatchObject({ limit: null });
  });

  it('is refused with what is wrong, and ends with "none" and "provider"', async () => {
    for (const [rate_limit, field] of [
      [{ requests: 0, seconds: 1, per: 'integration' }, 'requests'],
      [{ requests: 1, seconds: 1e9, per: 'integration' }, 'seconds'],
      [{ requests: 1, seconds: 1 }, 'per'],
      ['much', 'rate_limit'],
    ] as const) {
      const refused = await world.gateway.call('PATCH', `/integrations/${integration}`, {
        body: { rate_limit },
      });
      expect(refused.status).toBe(400);
      expect(JSON.stringify(refused.body)).toContain(field);
    }
    await set(anHour(1));
    expect(await statuses(2)).toEqual([200, 429]);
    for (const word of ['none', 'provider']) {
      await set(word);
      expect(await statuses(2)).toEqual([200, 200]);
    }
  });
});
