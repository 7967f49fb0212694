import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClient, type Client } from '#client/index.ts';
import { startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
let client: Client;
beforeAll(async () => {
  api = await startApi();
  client = createClient({ url: `${api.url}/`, key: api.keys.dev });
  const body = { provider: 'hacker-news', unique_key: 'a b:c' };
  await client.request('POST /integrations', { body });
});
afterAll(() => api[Symbol.asyncDispose]());

const connect = (connection_id: string, tags: Readonly<Record<string, string>>) =>
  client.request('POST /connections', {
    body: { provider_config_key: 'a b:c', connection_id, tags, credentials: { type: 'NONE' } },
  });

describe('the client', () => {
  it('fills the path and the query, lists and objects too', async () => {
    const { data } = await client.request('GET /integrations/{uniqueKey}', {
      params: { uniqueKey: 'a b:c' },
      query: { include: ['webhook', 'credentials'] },
    });
    expect(data).toMatchObject({ unique_key: 'a b:c', webhook_url: null, credentials: null });
    await connect('acme/1', { team: 'x' });
    await connect('acme/2', { team: 'y' });
    const found = await client.request('GET /connections', {
      query: { tags: { team: 'y' }, limit: 10 },
    });
    expect(found.connections.map((one) => one.connection_id)).toEqual(['acme/2']);
    const one = await client.request('GET /connections/{connectionId}', {
      params: { connectionId: 'acme/1' },
      query: { provider_config_key: 'a b:c', force_refresh: false },
    });
    expect(one).toMatchObject({ connection_id: 'acme/1', tags: { team: 'x' } });
  });

  it('sends the key of an operation that may be repeated', async () => {
    const account = createClient({ url: api.url, key: api.keys.account });
    const body = { name: 'staging' };
    const first = await account.request('POST /environments', { body, idempotencyKey: 'once' });
    const again = await account.request('POST /environments', { body, idempotencyKey: 'once' });
    expect(again).toEqual(first);
  });

  it('throws what the service refuses, with its code, status and issues', async () => {
    const unknown = client.request('GET /providers/{provider}', { params: { provider: 'none' } });
    await expect(unknown).rejects.toMatchObject({
      name: 'ApiError',
      code: 'not_found',
      status: 404,
      fix: expect.stringContaining('Check the id or the name') as string,
    });
    const wrong = client.send('POST', '/connections', { body: { provider_config_key: 1 } });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('provider_config_key: ') as string,
    });
  });

  it('reads the lines for language models, whose links lead to places of the page', async () => {
    const lines = await client.request('GET /llms.txt');
    expect(lines).toMatch(/^# svc\n\n> Integration gateway/);
    expect(lines).toMatch(/^- \[GET \/records\]\(\S+\/docs\/api#\w+\): List records/m);
    const page = await client.request('GET /docs/api');
    const places = [...lines.matchAll(/\/docs\/api#(\w+)\)/g)].map(([, id]) => id);
    expect(places.length).toBeGreaterThan(100);
    expect(places.filter((id) => !page.includes(`id="${id}"`))).toEqual([]);
  });

  it('answers text as text and nothing as nothing, and says when nobody is there', async () => {
    expect(await client.request('GET /docs/api')).toContain('<!doctype html>');
    const body = { end_user: { id: 'u1' } };
    const { data } = await client.request('POST /connect/sessions', { body });
    const session = createClient({ url: api.url, key: data.token });
    await session.request('DELETE /connect/session');
    const over = session.request('GET /connect/session');
    await expect(over).rejects.toMatchObject({ code: 'unknown_connect_session_token' });
    const nobody = createClient({ url: 'http://127.0.0.1:9', key: 'none' });
    await expect(nobody.request('GET /health')).rejects.toMatchObject({ code: 'unreachable' });
  });
});
