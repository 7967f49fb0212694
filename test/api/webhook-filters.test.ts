import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '#test/support/worlds/api.ts';
import { openWebhookApi, type WebhookApi } from '#test/support/worlds/webhook-api.ts';

let world: WebhookApi;
beforeAll(async () => {
  world = await openWebhookApi();
});
afterAll(() => world[Symbol.asyncDispose]());

const only = (path: string, value: string) => ({
  filter: { match: 'all', conditions: [{ path, op: 'equals', value }] },
});
const next = (): string => `c${world.connections() + 1}`;
const post = (path: string, body: object) => world.api.call('POST', path, { body });

describe('an endpoint with a filter', () => {
  it('gets what matches; the rest is listed and counted, and not sent', async () => {
    const wanted = next();
    const id = await world.endpoint('/some', only('/connectionId', wanted));
    const all = await world.endpoint('/all');
    await world.connect();
    const other = await world.connect();
    await world.receiver.got(2, '/all');
    const [kept] = await world.settled(id, 'filtered');
    expect(kept).toMatchObject({ connection_id: other, attempts: 0, error_code: null });
    const delivered = await world.settled(id, 'delivered');
    expect(delivered.map(({ connection_id }) => connection_id)).toEqual([wanted]);
    expect(world.receiver.received.filter(({ path }) => path === '/some')).toHaveLength(1);
    const shown = await world.api.call('GET', `/webhook-messages/${kept?.id ?? ''}`);
    expect(shown.at('data.payload.connectionId')).toBe(other);
    const listed = await world.api.call('GET', '/webhook-endpoints');
    expect(listed.at('data')).toMatchObject([
      { id, ...only('/connectionId', wanted), filtered: 1 },
      { id: all, filter: null, filtered: 0 },
    ]);
    await world.tested(id);
    await world.receiver.got(2, '/some');
    await world.removed(id);
    await world.removed(all);
  });

  it('gets what was kept back only if it is asked for by name', async () => {
    const since = new Date(world.clock.now() - 1000).toISOString();
    const id = await world.endpoint('/none', only('/type', 'never'));
    await world.connect();
    const [kept] = await world.settled(id, 'filtered');
    const message = kept?.id ?? '';
    const resend = (body: object) => post(`/webhook-messages/${message}/resend`, body);
    expect(codeOf(await resend({}))).toBe('404 not_found');
    const window = { since, endpoint_id: id };
    expect((await post('/webhook-messages/replay', window)).at('data.matched')).toBe(0);
    expect((await post('/webhook-messages/recover', window)).at('data.matched')).toBe(0);
    const asked = { ...window, state: 'filtered' };
    expect((await post('/webhook-messages/replay', asked)).at('data.replayed')).toBe(1);
    expect(codeOf(await resend({ endpoint_id: id }))).toBe('202 ');
    const [first, second] = await world.receiver.got(2, '/none');
    expect([first, second].map((one) => one?.headers['webhook-id'])).toEqual([message, message]);
    await world.removed(id);
  });

  it('gets everything once it has none', async () => {
    const id = await world.endpoint('/changed', only('/type', 'never'));
    await world.connect();
    await world.settled(id, 'filtered');
    expect(await world.changed(id, { filter: null })).toMatchObject({ filter: null, filtered: 1 });
    const connection = await world.connect();
    const [delivered] = await world.settled(id, 'delivered');
    expect(delivered?.connection_id).toBe(connection);
    await world.removed(id);
  });

  it('is refused with the place of what is wrong', async () => {
    const conditions = [
      { path: '/a', op: 'exists' },
      { path: '/a', op: 'matches', value: '(a+)+$' },
    ];
    const body = { url: `${world.receiver.url}/x`, filter: { match: 'all', conditions } };
    const refused = await post('/webhook-endpoints', body);
    expect(codeOf(refused)).toBe('400 invalid_body');
    expect(refused.at('error.errors.0.path')).toEqual(['filter', 'conditions', '1', 'op']);
  });
});
