import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { deleteEnvironment } from '#modules/access/environments/deletion.ts';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import { revocationEntity } from '#modules/connections/revocations/entity.ts';
import { startRevocationWorker } from '#modules/connections/revocations/revocation-worker.ts';
import { openRevocableTokens, type RevocableTokens } from '#test/support/fakes/revocable-tokens.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import { partitions } from '#test/support/worlds/control.ts';

let stack: AsyncDisposableStack;
let tokens: RevocableTokens;
let api: Api;

const inProcess = { revocationFirstWaitMs: 20, revocationWaitMaxMs: 20, revocationLeaseMs: 1_500 };
const usual = { ...limits };

beforeAll(async () => {
  Object.assign(limits, inProcess);
  stack = new AsyncDisposableStack();
  stack.defer(() => void Object.assign(limits, usual));
  tokens = stack.use(await openRevocableTokens());
  const folder = mkdtempSync(join(tmpdir(), 'svc-revocation-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const { url } = tokens;
  const named = { display_name: 'Mail', categories: ['crm'], docs: 'https://docs.example' };
  const oauth = { auth_mode: 'OAUTH2', authorization_url: `${url}/a`, token_url: `${url}/t` };
  const withRevocation = (revocation: object) => ({ ...named, ...oauth, revocation });
  writeFileSync(
    join(folder, 'mail.json'),
    JSON.stringify({
      mail: withRevocation({ url: `${url}/revoke` }),
      basic: withRevocation({ url: `${url}/revoke`, auth_method: 'basic' }),
      query: withRevocation({ url: `${url}/revoke`, method: 'GET', token: 'access_token' }),
      bearer: withRevocation({ url: `${url}/revoke`, auth_method: 'bearer', params: {} }),
      path: withRevocation({
        url: `${url}/tokens/\${token}`,
        method: 'DELETE',
        auth_method: 'basic',
        params: {},
      }),
      'no-revocation': { ...named, ...oauth },
    }),
  );
  api = stack.use(await startApi({ overlayPath: folder, egressAllow: [new URL(url).host] }));
});
afterAll(() => stack.disposeAsync());

interface Place {
  readonly key?: string;
  readonly integration: string;
  readonly id?: string;
}

async function integrate({ key = api.keys.dev, integration }: Place, provider: string) {
  const credentials = { type: 'OAUTH2', client_id: 'client', client_secret: tokens.clientSecret };
  const body = {
    ...{ provider, unique_key: integration, credentials },
    revoke_on_disconnect: true,
  };
  const made = await api.call('POST', '/integrations', { key, body });
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  return made;
}

/** Resolves with the access token. */
async function connect({ key = api.keys.dev, integration, id = 'ann' }: Place): Promise<string> {
  const issued = tokens.issue();
  const body = {
    provider_config_key: integration,
    connection_id: id,
    credentials: { type: 'OAUTH2', ...issued },
  };
  const made = await api.call('POST', '/connections', { key, body });
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return issued.access_token;
}

const disconnect = ({ key = api.keys.dev, integration, id = 'ann' }: Place) =>
  api.call('DELETE', `/connections/${id}?provider_config_key=${integration}`, { key });

const work = () => startRevocationWorker(api.services);
const pending = () => api.services.control.view.list(revocationEntity, []);

async function settled(): Promise<void> {
  await vi.waitFor(() => expect(pending()).toEqual([]), { timeout: 20_000, interval: 20 });
}

/** Every event and state of the control plane, as it is stored. */
async function controlText(): Promise<string> {
  const { log } = api.services;
  const topic = 'svc.internal.control.v1';
  const texts: string[] = [];
  for (let partition = 0; partition < partitions; partition += 1) {
    const end = await log.endOffset(topic, partition);
    const offset = await log.startOffset(topic, partition);
    if (end <= offset) continue;
    for await (const batch of log.read({ topic, partition, offset })) {
      texts.push(...batch.messages.map(({ value }) => Buffer.from(value ?? []).toString('latin1')));
      if (batch.next >= end) break;
    }
  }
  return texts.join('\n');
}

/** Values of a public topic, as text. */
async function topicText(name: string): Promise<string> {
  const read = await api.call('GET', `/topics/${name}/messages?limit=100`, {
    key: api.keys.account,
  });
  expect(read.status, JSON.stringify(read.body)).toBe(200);
  return JSON.stringify(read.body);
}

describe('the setting of an integration', () => {
  it('is false by default, and refused where the provider declares no revocation', async () => {
    const body = { provider: 'no-revocation', unique_key: 'plain' };
    const credentials = { type: 'OAUTH2', client_id: 'c', client_secret: 's' };
    const wanted = { ...body, credentials, revoke_on_disconnect: true };
    const refused = await api.call('POST', '/integrations', { body: wanted });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['revoke_on_disconnect']);
    expect(refused.at('error.errors.0.message')).toContain(
      '"no-revocation" declares no revocation',
    );
    const made = await api.call('POST', '/integrations', { body: { ...body, credentials } });
    expect(made.at('data.revoke_on_disconnect')).toBe(false);
    const patch = { body: { revoke_on_disconnect: true } };
    expect(codeOf(await api.call('PATCH', '/integrations/plain', patch))).toBe('400 invalid_body');
  });

  it('is changed by PATCH; without it nothing is revoked', async () => {
    const place = { integration: 'switched' };
    expect((await integrate(place, 'mail')).at('data.revoke_on_disconnect')).toBe(true);
    const off = { body: { revoke_on_disconnect: false } };
    const changed = await api.call('PATCH', '/integrations/switched', off);
    expect(changed.at('data.revoke_on_disconnect')).toBe(false);
    const token = await connect(place);
    expect((await disconnect(place)).status).toBe(200);
    expect(pending()).toEqual([]);
    expect(tokens.isLive(token)).toBe(true);
  });
});

describe('the revocation', () => {
  it.each(['mail', 'basic', 'query', 'bearer', 'path'])(
    'ends the token as the definition of "%s" says',
    async (provider) => {
      await using _worker = work();
      const place = { integration: `of-${provider}` };
      await integrate(place, provider);
      const token = await connect(place);
      expect((await disconnect(place)).status).toBe(200);
      await settled();
      expect(tokens.isLive(token)).toBe(false);
    },
  );

  it('touches no other connection and no other tenant, and is in the log and the audit', async () => {
    await using _worker = work();
    const place = { integration: 'shared' };
    const other = { integration: 'shared', key: api.keys.prod };
    await integrate(place, 'mail');
    await integrate(other, 'mail');
    const gone = await connect(place);
    const kept = [await connect({ ...place, id: 'bob' }), await connect(other)];
    await disconnect(place);
    await settled();
    expect([gone, ...kept].map((token) => tokens.isLive(token))).toEqual([false, true, true]);
    await api.services.logs.flush();
    await vi.waitFor(async () => {
      expect(await topicText('svc.audit.v1')).toContain('shared/ann');
    });
    expect(await topicText('svc.audit.v1')).toContain('connection.revoke');
    expect(await topicText('svc.logs.v1')).toContain('The provider revoked the access (200).');
  });

  it('goes on when the provider is back, and the deletion does not wait for it', async () => {
    const place = { integration: 'away' };
    await integrate(place, 'mail');
    const token = await connect(place);
    tokens.plan(503, 'cut', 429);
    expect((await disconnect(place)).status).toBe(200);
    expect(pending()).toMatchObject([{ state: { status: 'due', attempts: 0 } }]);
    // Its id is free again, and the new connection is not touched.
    const again = await connect(place);
    await using _worker = work();
    await settled();
    expect([tokens.isLive(token), tokens.isLive(again)]).toEqual([false, true]);
  });

  it('counts a token that had ended before as revoked', async () => {
    await using _worker = work();
    const place = { integration: 'ended' };
    await integrate(place, 'mail');
    tokens.end(await connect(place));
    const before = tokens.calls.length;
    await disconnect(place);
    await settled();
    expect(tokens.calls.length - before).toBe(1);
    await api.services.logs.flush();
    expect(await topicText('svc.logs.v1')).toContain('had ended at the provider before (400');
  });

  it.each(['revocation:after-intent', 'revocation:after-call', 'revocation:before-shred'])(
    'is repeated by another node when the process is killed at %s',
    async (point) => {
      const place = { integration: point.replace(':', '-') };
      await integrate(place, 'mail');
      const token = await connect(place);
      await disconnect(place);
      const uid = pending()[0]?.state.uid ?? '';
      const reached = Promise.withResolvers<null>();
      const faultPoint = (name: string): void => {
        if (name !== point) return;
        reached.resolve(null);
        throw new Error('killed');
      };
      {
        await using _killed = startRevocationWorker({ ...api.services, faultPoint });
        await reached.promise;
      }
      expect(pending()).toHaveLength(1);
      await using _worker = work();
      await settled();
      expect(tokens.isLive(token)).toBe(false);
      await expect(api.services.vault.ready(uid)).rejects.toThrow();
    },
  );

  it('follows the deletion of the integration and of the environment', async () => {
    const created = await createEnvironment(
      api.services,
      { name: 'short-lived' },
      { actor: 'system' },
    );
    const { secret: key } = created;
    const environmentUid = created.environment.uid;
    const places = [{ integration: 'first' }, { integration: 'second', key }];
    const connected: string[] = [];
    for (const place of places) {
      await integrate(place, 'mail');
      connected.push(await connect(place));
    }
    expect((await api.call('DELETE', '/integrations/first')).status).toBe(200);
    await deleteEnvironment(api.services, environmentUid, { actor: 'system' });
    expect(pending()).toHaveLength(2);
    await using _worker = work();
    await settled();
    expect(connected.map((token) => tokens.isLive(token))).toEqual([false, false]);
  });

  it('keeps no token and no client secret in the clear', async () => {
    const place = { integration: 'sealed' };
    await integrate(place, 'mail');
    await connect(place);
    await disconnect(place);
    expect(pending()).toHaveLength(1);
    const before = await controlText();
    expect(before).toContain('revocation');
    await using _worker = work();
    await settled();
    const text = before + (await controlText());
    for (const secret of ['canary-at-', 'canary-rt-', tokens.clientSecret]) {
      expect(text).not.toContain(secret);
    }
  });

  it('ends after a bounded number of attempts, and its key with it', async () => {
    const place = { integration: 'never' };
    await integrate(place, 'mail');
    await connect(place);
    await disconnect(place);
    const [found] = pending();
    const uid = found?.state.uid ?? '';
    await api.services.vault.ready(uid);
    const before = tokens.calls.length;
    tokens.plan(...Array.from({ length: 50 }, () => 500));
    await using _worker = work();
    await settled();
    expect(tokens.calls.length - before).toBe(limits.revocationAttemptsMax);
    tokens.plan();
    await expect(api.services.vault.ready(uid)).rejects.toThrow();
  });
});
