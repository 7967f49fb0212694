import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { dayMs, hourMs } from '#kernel/time.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import {
  longLivedFields,
  openLongLivedTokens,
  type LongLivedTokens,
} from '#test/support/fakes/long-lived-tokens.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';

const clock = movedClock();
let stack: AsyncDisposableStack;
let tokens: LongLivedTokens;
let api: Api;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const life = { lifetimeMs: 60 * dayMs, minAgeMs: dayMs };
  tokens = stack.use(await openLongLivedTokens({ clock, ...life }));
  const folder = mkdtempSync(join(tmpdir(), 'svc-long-lived-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const named = { display_name: 'Social', categories: ['social'], docs: 'https://docs.example' };
  const social = { ...named, ...longLivedFields(tokens.url) };
  const careful = { ...named, ...longLivedFields(tokens.url, dayMs / 1000) };
  writeFileSync(join(folder, 'social.json'), JSON.stringify({ social, careful }));
  const egressAllow = [new URL(tokens.url).host];
  api = stack.use(await startApi({ clock, overlayPath: folder, egressAllow }));
  for (const provider of ['social', 'careful']) {
    const credentials = { type: 'OAUTH2', client_id: 'client', client_secret: 'secret' };
    const body = { provider, unique_key: provider, credentials };
    expect((await api.call('POST', '/integrations', { body })).status).toBe(200);
  }
});
afterAll(() => stack.disposeAsync());

async function connect(provider: string): Promise<void> {
  const credentials = { type: 'OAUTH2', ...tokens.issue() };
  const body = { provider_config_key: provider, connection_id: 'ann', credentials };
  const made = await api.call('POST', '/connections', { body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
}

const fetched = (provider: string, more = '') =>
  api.call('GET', `/connections/ann?provider_config_key=${provider}${more}`);

it('a refresh that the provider refuses as too early leaves the connection well', async () => {
  await connect('social');
  const forced = await fetched('social', '&force_refresh=true');
  expect(tokens.outcomes.at(-1)).toBe('too_young');
  expect(forced.status).toBe(424);
  const after = await fetched('social');
  expect([after.status, after.at('errors')]).toEqual([200, []]);
  expect(tokens.isLive(after.at('credentials.access_token'))).toBe(true);
});

it('a refresh below the minimum age is not tried, also where it is forced', async () => {
  await connect('careful');
  const before = tokens.outcomes.length;
  const forced = await fetched('careful', '&force_refresh=true');
  expect([forced.status, tokens.outcomes.length]).toEqual([200, before]);
  clock.forward(dayMs + hourMs);
  const later = await fetched('careful', '&force_refresh=true');
  expect([later.status, tokens.outcomes.at(-1)]).toEqual([200, 'granted']);
  expect(later.at('credentials.access_token')).not.toBe(forced.at('credentials.access_token'));
  expect(later.at('errors')).toEqual([]);
});
