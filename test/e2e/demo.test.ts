import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTo, type Answer, type GatewayAccess } from '#test/support/processes/gateway.ts';
import { sharedGateway } from '#test/support/worlds/shared-gateways.ts';

let gateway: GatewayAccess;
let environmentId: number;

/** Fields of the answers that are read here. */
interface Body {
  readonly data: {
    readonly id: number;
    readonly secret: string;
    readonly token: string;
    readonly integrations: readonly unknown[];
  };
  readonly error: { readonly code: string; readonly message: string };
  readonly records: readonly Contact[];
  readonly connections: readonly { readonly connection_id: string }[];
  readonly credentials: { readonly refresh_token: string };
  readonly metadata: { readonly webhookSecret?: string };
}
const bodyOf = (answer: Answer): Body => answer.body as Body;

const withScopes = async (scopes: readonly string[]): Promise<string> => {
  const body = { environment_id: environmentId, display_name: randomUUID(), scopes };
  const key = gateway.accountKey;
  const made = await gateway.call('POST', '/environment/api-keys', { key, body });
  return bodyOf(made).data.secret;
};

beforeAll(async () => {
  const { url, ...keys } = await sharedGateway();
  gateway = accessTo(url, keys);
  const body = { name: `t-${randomUUID().slice(0, 8)}` };
  const made = await gateway.call('POST', '/environments', { key: keys.accountKey, body });
  environmentId = bodyOf(made).data.id;
  gateway = accessTo(url, { ...keys, key: await withScopes(['environment:*']) });
});
afterAll(async () => {
  const key = gateway.accountKey;
  await gateway.call('DELETE', `/environments/${environmentId}`, { key });
});

interface Contact {
  readonly id: string;
  readonly name: string;
  readonly _svc_metadata: { readonly last_action: string };
}

const headersOf = (integration: string, connection: string) => ({
  'provider-config-key': integration,
  'connection-id': connection,
});

async function contactsOf(integration: string, connection: string): Promise<readonly Contact[]> {
  const headers = headersOf(integration, connection);
  const read = await gateway.call('GET', '/records?model=Contact&limit=1000', { headers });
  return read.status === 200 ? bodyOf(read).records : [];
}

const names = ['contacts', 'rename-contact', 'receive-webhooks'];

describe('the demo of a gateway on loopback', () => {
  it('is set up with a key that may deploy, as often as wanted', async () => {
    expect((await gateway.call('GET', '/demo')).body).toEqual({ data: { is_available: true } });
    const key = await withScopes(['environment:deploy']);
    for (let time = 0; time < 2; time += 1) {
      const made = await gateway.call('POST', '/demo', { key });
      expect(made.status).toBe(200);
      expect(bodyOf(made).data.integrations).toEqual([
        { unique_key: 'demo-oauth', functions: names },
        { unique_key: 'demo-key', functions: names },
      ]);
    }
  });

  it('leaves an integration of the same name alone', async () => {
    const body = { name: `t-${randomUUID().slice(0, 8)}` };
    const account = { key: gateway.accountKey };
    const made = await gateway.call('POST', '/environments', { ...account, body });
    const { id } = bodyOf(made).data;
    const wanted = { environment_id: id, display_name: 'test', scopes: ['environment:*'] };
    const created = await gateway.call('POST', '/environment/api-keys', {
      ...account,
      body: wanted,
    });
    const key = bodyOf(created).data.secret;
    const taken = { provider: 'hacker-news', unique_key: 'demo-oauth' };
    await gateway.call('POST', '/integrations', { key, body: taken });
    const refused = await gateway.call('POST', '/demo', { key });
    expect(refused.status).toBe(409);
    expect(bodyOf(refused).error.message).toContain('hacker-news');
    await gateway.call('DELETE', `/environments/${id}`, account);
  });

  it('syncs all contacts of a connection by API key, and refuses another key', async () => {
    const connect = (apiKey: string) =>
      gateway.call('POST', '/connections', {
        body: {
          provider_config_key: 'demo-key',
          connection_id: 'other',
          credentials: { type: 'API_KEY', apiKey },
        },
      });
    const refused = await connect('other');
    expect(bodyOf(refused).error.code).toBe('connection_test_failed');
    expect((await connect('demo')).status).toBe(201);
    await expect.poll(() => contactsOf('demo-key', 'other')).toHaveLength(250);
  });

  it('signs in by OAuth 2.0, refreshes, and receives webhooks of changes', async () => {
    const body = { end_user: { id: 'u' }, allowed_integrations: ['demo-oauth'] };
    const session = await gateway.call('POST', '/connect/sessions', { body });
    const started = await fetch(
      `${gateway.url}/oauth/connect/demo-oauth?connect_session_token=${bodyOf(session).data.token}`,
      { redirect: 'manual' },
    );
    const cookie = started.headers
      .getSetCookie()
      .map((one) => one.split(';', 1)[0])
      .join('; ');
    const consent = started.headers.get('location') ?? '';
    expect(await (await fetch(consent)).text()).toContain('Allow');
    const allowed = await fetch(consent, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: new URL(consent).origin },
      body: new URLSearchParams({ answer: 'allow' }),
    });
    const callback = allowed.headers.get('location') ?? '';
    expect(callback).toMatch(new RegExp(`^${gateway.url}/oauth/callback\\?code=`));
    expect((await fetch(callback, { headers: { cookie } })).status).toBe(200);

    const listed = await gateway.call('GET', '/connections?integrationId=demo-oauth');
    const [{ connection_id: connection } = { connection_id: '' }] = bodyOf(listed).connections;
    await expect.poll(() => contactsOf('demo-oauth', connection)).toHaveLength(250);
    const path = `/connections/${connection}?provider_config_key=demo-oauth&refresh_token=true`;
    const before = bodyOf(await gateway.call('GET', path)).credentials;
    const after = bodyOf(await gateway.call('GET', `${path}&force_refresh=true`)).credentials;
    expect(after.refresh_token).not.toBe(before.refresh_token);

    const headers = headersOf('demo-oauth', connection);
    await expect
      .poll(async () => bodyOf(await gateway.call('GET', path)).metadata.webhookSecret)
      .toBeTypeOf('string');
    const renamed = await gateway.call('POST', '/action/trigger', {
      headers,
      body: { action_name: 'rename-contact', input: { id: 'contact-007', name: 'Zoe' } },
    });
    expect(renamed.body).toMatchObject({ id: 'contact-007', name: 'Zoe' });
    const deleted = await gateway.call('DELETE', '/proxy/contacts/contact-008', {
      headers: { ...headers, retries: '3' },
    });
    expect(deleted.status).toBe(204);
    await expect
      .poll(async () => {
        const records = await contactsOf('demo-oauth', connection);
        return records.slice(-2).map(({ id, name, _svc_metadata: { last_action: action } }) => {
          return action === 'DELETED' ? `${id} ${action}` : `${id} ${action} ${name}`;
        });
      })
      .toEqual(expect.arrayContaining(['contact-007 UPDATED Zoe', 'contact-008 DELETED']));
  });
});
