import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyDelivery } from '#rules/signature.ts';
import type { WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { codeOf, type Api, type ApiAnswer } from '#test/support/worlds/api.ts';
import { everythingOn } from '#test/support/worlds/control.ts';
import { until } from '#test/support/worlds/runs.ts';
import {
  openWebhookApi,
  type ListedDelivery,
  type WebhookApi,
} from '#test/support/worlds/webhook-api.ts';

const secretPath = '/hook/of-a-secret-4711';
let world: WebhookApi;
let api: Api;
let receiver: WebhookReceiver;

beforeAll(async () => {
  world = await openWebhookApi();
  ({ api, receiver } = world);
});
afterAll(() => world[Symbol.asyncDispose]());

/** Sets the waits between the attempts of the environment. */
async function scheduled(webhook_retry_waits_seconds: readonly number[]): Promise<void> {
  const key = api.keys.account;
  const answered = await api.call('GET', '/environments', { key });
  const path = `/environments/${String(answered.at('data.0.id'))}`;
  const body = { webhook_retry_waits_seconds };
  const set = await api.call('PATCH', path, { key, body });
  expect(set.at('data.webhook_retry_waits_seconds')).toEqual(webhook_retry_waits_seconds);
}

describe('webhook endpoints', () => {
  it('are made, listed beside the addresses of the environment, changed and deleted', async () => {
    const { services, keys } = api;
    const answered = await api.call('GET', '/environments', { key: keys.account });
    const path = `/environments/${String(answered.at('data.0.id'))}`;
    const set = (webhook_url: string) =>
      api.call('PATCH', path, { key: keys.account, body: { webhook_url } });
    expect(codeOf(await set(`${receiver.url}/own`))).toBe('200 ');
    const id = await world.endpoint(secretPath, {
      display_name: 'Billing',
      kinds: ['sync', 'sync'],
    });
    const listed = await api.call('GET', '/webhook-endpoints');
    expect(listed.at('data')).toMatchObject([
      { id: 'primary', managed_by: 'environment', url: `${receiver.url}/own` },
      { id, display_name: 'Billing', kinds: ['sync'], enabled: true, managed_by: 'endpoint' },
    ]);
    const changes = { kinds: null, enabled: false };
    const changed = await api.call('PATCH', `/webhook-endpoints/${id}`, { body: changes });
    expect(changed.at('data')).toMatchObject({ ...changes, display_name: 'Billing' });
    expect(
      codeOf(await api.call('PATCH', `/webhook-endpoints/${id}`, { key: keys.prod, body: {} })),
    ).toBe('404 not_found');
    await world.removed(id);
    expect(codeOf(await api.call('DELETE', `/webhook-endpoints/${id}`))).toBe('404 not_found');
    await set('');
    expect(await everythingOn(services.log)).not.toContain(secretPath);
  });

  it('name the integration of their connection', async () => {
    const body = { url: `${receiver.url}/x`, connection_id: 'c1' };
    const refused = await api.call('POST', '/webhook-endpoints', { body });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['provider_config_key']);
  });

  it('get what they want and nothing else', async () => {
    const ids = {
      auth: await world.endpoint('/auth', { kinds: ['auth'] }),
      sync: await world.endpoint('/sync', { kinds: ['sync'] }),
      other: await world.endpoint('/other', { provider_config_key: 'another' }),
      own: await world.endpoint('/own', {
        provider_config_key: 'open',
        connection_id: `c${world.connections() + 1}`,
      }),
    };
    const first = await world.connect();
    await world.connect();
    await receiver.got(2, '/auth');
    const paths = receiver.received.map(({ path }) => path);
    expect(paths.filter((path) => path === '/own')).toHaveLength(1);
    expect(paths).not.toContain('/sync');
    expect(paths).not.toContain('/other');
    const [own] = await world.messages({ endpoint_id: ids.own });
    const shown = await api.call('GET', `/webhook-messages/${own?.id ?? ''}`);
    expect(shown.at('data')).toMatchObject({
      kind: 'auth',
      payload: { connectionId: first, operation: 'creation' },
    });
    for (const id of Object.values(ids)) await world.removed(id);
  });

  it('are sent a test, signed with both keys after a rotation', async () => {
    const id = await world.endpoint('/tested');
    const answered = await api.call('POST', '/environment/webhook-signing-key/rotate');
    const key = answered.at('data.webhook_signing_key') as string;
    const messageId = await world.tested(id);
    const [request] = await receiver.got(1, '/tested');
    const { headers = {}, body = '' } = request ?? {};
    expect(JSON.parse(body)).toMatchObject({ type: 'test', from: 'svc', endpointId: id });
    expect(verifyDelivery(key, body, String(headers['x-svc-hmac-sha256']))).toBe(true);
    expect(headers['webhook-id']).toBe(messageId);
    expect(String(headers['webhook-signature']).split(' ')).toHaveLength(2);
    const again = await api.call('POST', '/environment/webhook-signing-key/rotate');
    expect(codeOf(again)).toBe('409 multiple_webhook_signing_keys');
    await world.removed(id);
  });
});

describe('webhooks of an endpoint with headers', () => {
  const secret = 'Bearer of-the-application-4712';

  it('carry them, and nobody sees their values again', async () => {
    const headers = { Authorization: secret, 'X-Tenant': 'acme' };
    const id = await world.endpoint('/headers', { headers });
    const listed = await api.call('GET', '/webhook-endpoints');
    expect(listed.at('data')).toMatchObject([{ id, header_names: ['authorization', 'x-tenant'] }]);
    expect(JSON.stringify(listed.at('data'))).not.toContain(secret);
    expect(await everythingOn(api.services.log)).not.toContain(secret);
    await world.tested(id);
    const [request] = await receiver.got(1, '/headers');
    expect(request?.headers).toMatchObject({ authorization: secret, 'x-tenant': 'acme' });
    const changed = await api.call('PATCH', `/webhook-endpoints/${id}`, {
      body: { enabled: true },
    });
    expect(changed.at('data.header_names')).toEqual(['authorization', 'x-tenant']);
    const cleared = await api.call('PATCH', `/webhook-endpoints/${id}`, {
      body: { headers: null },
    });
    expect(cleared.at('data.header_names')).toEqual([]);
    await world.tested(id);
    const [, later] = await receiver.got(2, '/headers');
    expect(later?.headers['authorization']).toBeUndefined();
    await world.removed(id);
  });

  it.each([
    ['host', 'evil.example'],
    ['Webhook-Signature', 'v1,forged'],
    ['x-svc-hmac-sha256', '00'],
    ['content-length', '1'],
    ['transfer-encoding', 'chunked'],
    ['x bad', '1'],
    ['x-split', 'a\r\nx-other: b'],
    ['x-empty', ''],
    ['x-long', 'a'.repeat(4097)],
  ])('refuse %s', async (name, value) => {
    const body = { url: `${receiver.url}/x`, headers: { [name]: value } };
    const refused = await api.call('POST', '/webhook-endpoints', { body });
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['headers', name]);
  });

  it('refuse more than 20, and two that differ in case', async () => {
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`x-${at}`, '1']));
    for (const headers of [many, { 'x-a': '1', 'X-A': '2' }]) {
      const body = { url: `${receiver.url}/x`, headers };
      const refused = await api.call('POST', '/webhook-endpoints', { body });
      expect(codeOf(refused)).toBe('400 invalid_body');
    }
  });
});

describe('webhooks of an endpoint with a schedule', () => {
  it('follow it, and that of the environment once it has none', async () => {
    receiver.answer = ({ path }) => (path === '/own-schedule' ? 500 : 200);
    const id = await world.endpoint('/own-schedule', { retry_waits_seconds: [1] });
    const first = await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    expect(failed).toMatchObject({ id: first, attempts: 2 });
    const body = { retry_waits_seconds: null };
    const changed = await api.call('PATCH', `/webhook-endpoints/${id}`, { body });
    expect(changed.at('data.retry_waits_seconds')).toBeNull();
    // Past the time for which five failures count.
    world.clock.forward(60_000);
    const second = await world.tested(id);
    const both = await world.settled(id, 'failed', 2);
    expect(both.find((one) => one.id === second)).toMatchObject({ attempts: 3 });
    receiver.answer = () => 200;
    await world.removed(id);
  });
});

describe('webhooks that failed', () => {
  const answer = { now: 500 };
  const recover = (body: object): Promise<ApiAnswer> =>
    api.call('POST', '/webhook-messages/recover', { body });

  it('are listed with their attempts, and recovered once', async () => {
    receiver.answer = ({ path }) => (path === '/failing' ? answer.now : 200);
    const since = new Date(world.clock.now() - 1000).toISOString();
    const id = await world.endpoint('/failing');
    const first = await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    const fix = expect.stringContaining('log of the endpoint') as string;
    expect(failed).toMatchObject({ id: first, attempts: 3, fix });
    const answered = await api.call('GET', `/webhook-messages/${first}`);
    expect(answered.at('data.deliveries.0.attempt_list')).toMatchObject(
      [1, 2, 3].map((attempt) => ({ attempt, success: false, status: 500, fix })),
    );
    answer.now = 200;
    const wanted = { since, endpoint_id: id };
    const dry = await recover({ ...wanted, dry_run: true });
    expect(dry.at('data')).toMatchObject({ matched: 1, replayed: 0, message_ids: [first] });
    const done = await recover(wanted);
    expect(done.at('data')).toMatchObject({ matched: 1, replayed: 1, has_more: false });
    const [delivered] = await world.settled(id, 'delivered');
    expect(delivered).toMatchObject({ replay_of: first, attempts: 1, fix: null });
    const [last] = (await receiver.got(4, '/failing')).slice(-1);
    expect(last?.headers['webhook-id']).toBe(first);
    expect((await recover(wanted)).at('data.matched')).toBe(0);
    await world.removed(id);
  });

  it('are tried by the schedule of the environment', async () => {
    await scheduled([60]);
    receiver.answer = ({ path: asked }) => (asked === '/scheduled' ? 503 : 200);
    const id = await world.endpoint('/scheduled');
    await world.tested(id);
    await receiver.got(1, '/scheduled');
    await until(async () => (await world.messages({ endpoint_id: id }))[0]?.attempts === 1);
    // The second waits in the log, and not in memory.
    world.clock.forward(61_000);
    world.clock.forward(60_000 / 20);
    const [failed] = await world.settled(id, 'failed');
    expect(failed?.attempts).toBe(2);
    await scheduled([3, 6]);
    await world.removed(id);
  });

  it('wait while their endpoint fails, which costs them no attempt', async () => {
    answer.now = 500;
    receiver.answer = ({ path }) => (path === '/broken' ? answer.now : 200);
    // Each wait puts the clock forward: all attempts are to fall within the 10 s that the circuit looks at.
    await scheduled([1, 1]);
    const id = await world.endpoint('/broken');
    const before = [await world.tested(id), await world.tested(id)];
    // Five failures that are known open the circuit.
    await until(async () => {
      const failures = (await world.messages({ endpoint_id: id })).map(({ attempts }) => attempts);
      return failures.reduce((sum, attempts) => sum + attempts, 0) >= 5;
    });
    const after = await Promise.all([world.tested(id), world.tested(id), world.tested(id)]);
    await until(async () => (await world.messages({ endpoint_id: id })).length === 5);
    const tries = receiver.received.filter(({ path }) => path === '/broken').length;
    expect(tries).toBeLessThanOrEqual(before.length * 3);
    answer.now = 200;
    let waited: ListedDelivery[] = [];
    await until(async () => {
      world.clock.forward(60_000);
      const delivered = await world.messages({ endpoint_id: id, state: 'delivered' });
      waited = delivered.filter(({ id: of }) => after.includes(of));
      return waited.length === after.length;
    });
    expect(waited.map(({ attempts }) => attempts)).toEqual([1, 1, 1]);
    await world.removed(id);
    await scheduled([3, 6]);
  });

  it('for an address that may not be reached are listed as such', async () => {
    const body = { url: 'http://127.0.0.1:9/metadata' };
    const made = await api.call('POST', '/webhook-endpoints', { body });
    const id = made.at('data.id') as string;
    await world.tested(id);
    const [failed] = await world.settled(id, 'failed');
    const fix = expect.stringContaining('SVC_EGRESS_ALLOW') as string;
    expect(failed).toMatchObject({ error_code: 'url_not_allowed', attempts: 1, fix });
    await world.removed(id);
  });
});

describe('webhooks that were delivered', () => {
  it('are sent again one by one, by filter and by time', async () => {
    const id = await world.endpoint('/again');
    const [first, second] = [await world.tested(id), await world.tested(id)];
    await world.settled(id, 'delivered', 2);
    const resent = await api.call('POST', `/webhook-messages/${first}/resend`, { body: {} });
    expect(codeOf(resent)).toBe('202 ');
    await world.settled(id, 'delivered', 3);
    const replay = (body: object): Promise<ApiAnswer> =>
      api.call('POST', '/webhook-messages/replay', { body });
    const window = { since: '2026-01-01T00:00:00Z', endpoint_id: id };
    const dry = await replay({ ...window, dry_run: true });
    expect((dry.at('data.message_ids') as string[]).sort()).toEqual([first, second].sort());
    expect((await replay({ ...window, kind: 'test' })).at('data.replayed')).toBe(2);
    await world.settled(id, 'delivered', 5);
    expect((await replay({ ids: [second] })).at('data.replayed')).toBe(1);
    const all = await world.settled(id, 'delivered', 6);
    expect(all.filter(({ replay_of }) => replay_of === second)).toHaveLength(2);
    expect(codeOf(await replay({ kind: 'test' }))).toBe('400 invalid_body');
    const other = await replay({ ...window, until: '2026-01-02T00:00:00Z' });
    expect(other.at('data.matched')).toBe(0);
    await world.removed(id);
  });

  it('are paged, newest first', async () => {
    const id = await world.endpoint('/paged');
    for (let count = 0; count < 3; count += 1) await world.tested(id);
    await world.settled(id, 'delivered', 3);
    const page = async (cursor: string | null) => {
      const more = cursor === null ? '' : `&cursor=${cursor}`;
      return api.call('GET', `/webhook-messages?endpoint_id=${id}&limit=2${more}`);
    };
    const first = await page(null);
    const second = await page(first.at('next_cursor') as string);
    const ids = [first, second].flatMap((of) =>
      (of.at('data') as ListedDelivery[]).map((one) => one.id),
    );
    expect(new Set(ids).size).toBe(3);
    expect(second.at('next_cursor')).toBeNull();
    expect(codeOf(await api.call('GET', '/webhook-messages?cursor=x'))).toBe(
      '400 invalid_cursor_value',
    );
    await world.removed(id);
  });
});
