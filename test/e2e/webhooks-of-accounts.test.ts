/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { createHash, createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlayedProvider } from '#fake-providers/play.ts';
import { openFakeAuth, visit } from '#fake-providers/server.ts';
import { textAt } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { startGateway, type Answer, type RunningGateway } from '#test/support/processes/gateway.ts';

/** One provider of the catalog, what it says of the account that signs in, and the webhook that it sends. */
interface Case {
  readonly provider: string;
  /** The provider's answer about the account. */
  readonly account: (played: PlayedProvider, id: string) => void | Promise<void>;
  readonly type: string;
  readonly event: (account: string, id: string) => JsonObject | readonly JsonObject[];
  readonly headers: (body: string, secrets: Secrets) => Readonly<Record<string, string>>;
}

interface Secrets {
  readonly client: string;
  readonly webhook: string;
}

const webhookSecret = 'a-webhook-secret';
const mac = (body: string, key: string, as: 'hex' | 'base64' = 'hex', hash = 'sha256') =>
  createHmac(hash, key).update(body).digest(as);
const tokens = { access_token: 'issued', token_type: 'Bearer', expires_in: 3600 };
const tokenResponse = (more: JsonObject) => ({ status: 200, body: { ...tokens, ...more } });

const idToken = (claims: JsonObject): Promise<string> =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256' })
    .sign(Buffer.from('0123456789abcdef0123456789abcdef'));

const cases: readonly Case[] = [
  {
    provider: 'hubspot',
    account: ({ plan }, id) => plan('token', tokenResponse({ hub_id: Number(id) })),
    type: 'contact.creation',
    event: (account, id) => [
      { portalId: Number(account), subscriptionType: 'contact.creation', objectId: id },
    ],
    headers: (body, { client }) => ({
      'x-hubspot-signature': createHash('sha256').update(`${client}${body}`).digest('hex'),
    }),
  },
  {
    provider: 'attio',
    account: ({ on }, id) => on('/v2/self', { active: true, workspace_id: id }),
    type: 'record.created',
    event: (account, id) => ({
      events: [{ event_type: 'record.created', id: { workspace_id: account, record_id: id } }],
    }),
    headers: (body, { webhook }) => ({ 'x-attio-signature': mac(body, webhook) }),
  },
  {
    provider: 'linear',
    account: ({ on }, id) => on('/graphql', { data: { organization: { id } } }),
    type: 'Issue',
    event: (account, id) => ({ organizationId: account, type: 'Issue', data: { id } }),
    headers: (body, { webhook }) => ({
      'linear-signature': mac(body, webhook),
      'linear-delivery': createHash('sha256').update(body).digest('hex'),
    }),
  },
  {
    provider: 'intercom',
    account: ({ on }, id) => on('/me', { type: 'admin', app: { type: 'app', id_code: id } }),
    type: 'contact.created',
    event: (account, id) => ({ app_id: account, topic: 'contact.created', id }),
    headers: (body, { client }) => ({
      'x-hub-signature': `sha1=${mac(body, client, 'hex', 'sha1')}`,
    }),
  },
  {
    provider: 'jobber',
    account: ({ on }, id) => on('/api/graphql', { data: { account: { id } } }),
    type: 'CLIENT_CREATE',
    event: (account, id) => ({
      data: { webHookEvent: { topic: 'CLIENT_CREATE', accountId: account, itemId: id } },
    }),
    headers: (body, { client }) => ({ 'x-jobber-hmac-sha256': mac(body, client, 'base64') }),
  },
  {
    provider: 'microsoft-teams',
    account: async ({ plan }, id) =>
      plan('token', tokenResponse({ id_token: await idToken({ tid: id }) })),
    type: 'message',
    event: (account, id) => ({ type: 'message', id, channelData: { tenant: { id: account } } }),
    headers: () => ({}),
  },
];

let stack: AsyncDisposableStack;
let gateway: RunningGateway;
const plays = new Map<string, PlayedProvider>();

/** Saves whatever the webhook says, as a record of the connection that it runs for. */
const syncOf = ({ provider, type }: Case) => ({
  type: 'sync',
  syncName: 'heard',
  providerConfigKey: provider,
  models: ['Heard'],
  runs: 'every week',
  auto_start: true,
  fileBody: {
    js: `
      const { z } = require('zod');
      module.exports.default = {
        type: 'sync', description: 'Heard', frequency: 'every week', autoStart: true, syncType: 'full',
        models: { Heard: z.looseObject({ id: z.string() }) }, exec: async () => {},
        onWebhook: async (svc, payload) => {
          await svc.batchSave([{ id: JSON.stringify(payload) }], 'Heard');
        },
      };`,
    ts: 'export default {};',
  },
  webhookSubscriptions: [type],
  models_json_schema: {
    definitions: { Heard: { type: 'object', properties: { id: { type: 'string' } } } },
  },
});

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const fake = stack.use(await openFakeAuth());
  const catalogue = loadCatalogue({ overlayPath: null });
  for (const { provider } of cases) plays.set(provider, fake.play(catalogue.find(provider)!));
  const folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-of-accounts-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const overlay = join(folder, 'providers.json');
  await writeFile(overlay, JSON.stringify(fake.definitions()));
  const env = { SVC_PROVIDERS: overlay, SVC_EGRESS_ALLOW: fake.hostPort };
  gateway = await startGateway({ dataDir: join(folder, 'data'), env });
  stack.defer(() => gateway.stop());
  for (const { provider } of cases) {
    const credentials = {
      ...plays.get(provider)!.integration,
      webhook_secret: usesClientSecret(provider) ? undefined : webhookSecret,
    };
    await done('POST', '/integrations', { provider, unique_key: provider, credentials });
  }
  await done('POST', '/functions/deployments/bundle', {
    reconciliationScope: { kind: 'environment' },
    functions: cases.map(syncOf),
  });
});
afterAll(() => stack.disposeAsync());

const usesClientSecret = (provider: string): boolean =>
  ['hubspot', 'intercom', 'jobber', 'microsoft-teams'].includes(provider);

async function done(method: string, path: string, body: object): Promise<Answer> {
  const answer = await gateway.call(method, path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

/** A person signs in at the provider; nothing is configured. Resolves with the id of the connection. */
async function signIn(provider: string): Promise<string> {
  const known = await connectionIds(provider);
  const session = await done('POST', '/connect/sessions', { end_user: { id: 'ann' } });
  const token = session.body.data.token as string;
  const path = `${gateway.url}/oauth/connect/${provider}?connect_session_token=${token}`;
  const started = await fetch(path, { redirect: 'manual' });
  const cookie = (started.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const query = new URLSearchParams(await visit(started.headers.get('location') ?? ''));
  const back = `${gateway.url}/oauth/callback?${query.toString()}`;
  await fetch(back, { redirect: 'manual', headers: { cookie } });
  const [made, ...others] = (await connectionIds(provider)).filter((id) => !known.includes(id));
  expect([made, others]).toEqual([expect.any(String), []]);
  return made ?? '';
}

async function connectionIds(provider: string): Promise<string[]> {
  const answer = await gateway.call('GET', '/connections');
  return (answer.body.connections as { connection_id: string; provider_config_key: string }[])
    .filter(({ provider_config_key: key }) => key === provider)
    .map(({ connection_id: id }) => id);
}

async function syncNames(provider: string, connectionId: string): Promise<string[]> {
  const of = `provider_config_key=${provider}&connection_id=${connectionId}`;
  const answer = await gateway.call('GET', `/sync/status?syncs=*&${of}`);
  return ((answer.body.syncs ?? []) as { name: string }[]).map(({ name }) => name);
}

/** What the sync of the connection has saved. */
async function heard(provider: string, connectionId: string): Promise<string[]> {
  const headers = { 'provider-config-key': provider, 'connection-id': connectionId };
  const answer = await gateway.call('GET', '/records?model=Heard', { headers });
  return ((answer.body.records ?? []) as { id: string }[]).map(({ id }) => id);
}

describe.each(cases.map((one) => [one.provider, one] as const))('webhooks of %s', (_, one) => {
  it('run the onWebhook of the connection of their account, of which nobody said anything', async () => {
    const { provider, account, event, headers } = one;
    const played = plays.get(provider)!;
    const connections = new Map<string, string>();
    for (const id of ['4711', '4712']) {
      await account(played, id);
      connections.set(id, await signIn(provider));
    }
    // A sync that does not exist yet hears nothing.
    for (const id of connections.values())
      await expect.poll(() => syncNames(provider, id), { timeout: 20_000 }).toEqual(['heard']);
    const shown = await gateway.call('GET', `/integrations/${provider}?include=webhook`);
    const { pathname } = new URL(shown.body.data.webhook_url as string);
    const client = textAt(played.integration ?? {}, 'client_secret') ?? '';
    for (const id of ['4712', '4711']) {
      const body = JSON.stringify(event(id, `of-${id}`));
      const sent = {
        'content-type': 'application/json',
        ...headers(body, { client, webhook: webhookSecret }),
      };
      const answer = await fetch(gateway.url + pathname, { method: 'POST', headers: sent, body });
      expect(answer.status, await answer.text()).toBe(200);
    }
    for (const [id, connectionId] of connections) {
      await expect
        .poll(() => heard(provider, connectionId), { timeout: 20_000 })
        .toEqual([expect.stringContaining(`of-${id}`)]);
    }
  });
});
