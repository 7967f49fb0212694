import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rawInteger } from '#kernel/exact-json.ts';
import { standardWebhook, webhookProviders } from '#test/support/fakes/fake-webhook-provider.ts';
import { openWebhookReceiver, type WebhookReceiver } from '#test/support/fakes/webhook-receiver.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

/** As a number it is 9007199254740992. */
const digits = '9007199254740993';
const secret = 'whsec_b2YgYW4gZW5kIHRvIGVuZCB0ZXN0';

let stack: AsyncDisposableStack;
let gateway: RunningGateway;
let app: WebhookReceiver;
/** `METHOD path body` of each request to the provider. */
const provided: string[] = [];

const bundleOf = (fields: string): string =>
  `const { z } = require('zod'); module.exports.default = { description: 'Numbers', ${fields} };`;

const action = (syncName: string, exec: string) => ({
  type: 'action',
  syncName,
  providerConfigKey: 'numbers',
  models: [],
  runs: null,
  fileBody: {
    js: bundleOf(`type: 'action', input: z.any(), output: z.any(), exec: ${exec}`),
    ts: 'export default {};',
  },
});

const functions = [
  action('echo', 'async (svc, input) => input'),
  action(
    'exact',
    `async (svc, { id }) => ({ type: typeof id, raw: JSON.rawJSON(id), sum: String(BigInt(id) + 1n) })`,
  ),
  action(
    'read',
    `async (svc) => {
      const { data } = await svc.get({ endpoint: '/thing' });
      const fetched = await (await svc.uncontrolledFetch({ url: new URL(data.url) })).json();
      const nested = await svc.triggerAction('exact', { id: data.id });
      await svc.post({ endpoint: '/bare', data: JSON.rawJSON(data.id) });
      await svc.post({ endpoint: '/in-object', data: { id: JSON.rawJSON(data.id), text: data.id } });
      return {
        data, fetched, nested,
        token: (await svc.getRawTokenResponse()).account_id,
        metadata: await svc.getMetadata(),
      };
    }`,
  ),
  {
    type: 'sync',
    syncName: 'keep',
    providerConfigKey: 'numbers',
    models: ['Note'],
    runs: 'every week',
    auto_start: true,
    webhookSubscriptions: ['note.edited'],
    models_json_schema: {
      definitions: { Note: { type: 'object', properties: { id: { type: 'string' } } } },
    },
    fileBody: {
      js: bundleOf(
        `type: 'sync', frequency: 'every week', autoStart: true, syncType: 'full',
        models: { Note: z.looseObject({ id: z.string() }) }, exec: async () => {},
        onWebhook: async (svc, payload) => {
          const { note_id: id } = payload;
          const nanoseconds = 1_700_000_000_000_000_000;
          await svc.batchSave([{ id, big: JSON.rawJSON(id), text: id, nanoseconds }], 'Note');
          const found = (await svc.getRecordsByIds([id], 'Note')).get(id);
          await svc.batchSave([{ ...found, readBack: [found.big, typeof found.nanoseconds] }], 'Note');
        }`,
      ),
      ts: 'export default {};',
    },
  },
];

async function openProvider(): Promise<string> {
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const { method = '', url = '/' } = request;
      provided.push(`${method} ${url} ${Buffer.concat(chunks as Buffer[]).toString()}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      if (url === '/token')
        response.end(`{"access_token":"t","expires_in":3600,"account_id":${digits}}`);
      else response.end(`{"id":${digits},"small":7,"url":"http://${request.headers.host ?? ''}/"}`);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Sends the body as it is; the text of the response. */
async function call(method: string, path: string, body?: string, more = {}): Promise<string> {
  const headers = {
    authorization: `Bearer ${gateway.key}`,
    'content-type': 'application/json',
    'provider-config-key': 'numbers',
    'connection-id': 'ann',
    ...more,
  };
  const response = await fetch(gateway.url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  expect(response.status, text).toBeLessThan(300);
  return text;
}

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  app = stack.use(await openWebhookReceiver());
  const host = await openProvider();
  const folder = await mkdtemp(join(tmpdir(), 'svc-large-integers-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const { notes } = webhookProviders(`http://${host}`) as { notes: object };
  const numbers = {
    ...notes,
    auth_mode: 'OAUTH2_CC',
    credentials: undefined,
    token_url: `http://${host}/token`,
    token_response_metadata: ['account_id'],
    proxy: { base_url: `http://${host}/\${connectionConfig.account_id}/\${metadata.team}` },
  };
  const overlay = join(folder, 'providers.json');
  await writeFile(overlay, JSON.stringify({ numbers }));
  const env = { SVC_PROVIDERS: overlay, SVC_EGRESS_ALLOW: `${host},${new URL(app.url).host}` };
  gateway = await startGateway({ dataDir: join(folder, 'data'), env });
  stack.defer(() => gateway.stop());
  await call('POST', '/integrations', '{"provider":"numbers","unique_key":"numbers"}');
  // It has expired: the first call gets another one.
  const expired = { token: 'expired', expires_at: '2020-01-01T00:00:00Z' };
  const credentials = { type: 'OAUTH2_CC', client_id: 'c', client_secret: 's', ...expired };
  const connection = JSON.stringify({
    provider_config_key: 'numbers',
    connection_id: 'ann',
    credentials,
    metadata: { webhookSecret: secret },
  });
  await call(
    'POST',
    '/connections',
    connection.replace(
      '"metadata":{',
      `"connection_config":{"account_id":${digits}},"metadata":{"team":${digits},`,
    ),
  );
  const endpoint = { url: `${app.url}/app`, kinds: ['forward'] };
  await call('POST', '/webhook-endpoints', JSON.stringify(endpoint));
  const reconciliationScope = { kind: 'environment' };
  const deployed = JSON.stringify({ reconciliationScope, functions });
  await call('POST', '/functions/deployments/bundle', deployed);
});
afterAll(() => stack.disposeAsync());

const run = (name: string, input: string): Promise<string> =>
  call('POST', '/action/trigger', `{"action_name":"${name}","input":${input}}`);

describe('an integer beyond 2^53 − 1 keeps its digits', () => {
  it('in input and output of an action, where it is text unless the function writes it raw', async () => {
    expect(await run('echo', `{"id":${digits},"small":9007199254740991}`)).toBe(
      `{"id":"${digits}","small":9007199254740991}`,
    );
    expect(await run('exact', `{"id":${digits}}`)).toBe(
      `{"type":"string","raw":${digits},"sum":"9007199254740994"}`,
    );
  });

  it('in a repeated request with the same key', async () => {
    const key = { 'idempotency-key': 'large' };
    const body = `{"action_name":"exact","input":{"id":${digits}}}`;
    const first = await call('POST', '/action/trigger', body, key);
    expect(first).toContain(`"raw":${digits}`);
    expect(await call('POST', '/action/trigger', body, key)).toBe(first);
  });

  it('from a token response and from metadata to addresses and functions', async () => {
    provided.length = 0;
    const read = JSON.parse(await run('read', 'null')) as Record<string, unknown>;
    expect(read).toMatchObject({
      data: { id: digits, small: 7 },
      fetched: { id: digits },
      nested: { type: 'string', raw: digits },
      token: digits,
      metadata: { team: digits },
    });
    expect(provided).toEqual([
      expect.stringContaining('POST /token'),
      `GET /${digits}/${digits}/thing `,
      'GET / ',
      `POST /${digits}/${digits}/bare ${digits}`,
      `POST /${digits}/${digits}/in-object {"id":${digits},"text":"${digits}"}`,
    ]);
    const shown = await call('GET', '/connections/ann?provider_config_key=numbers');
    expect(shown).toContain(`"team":"${digits}"`);
    expect(shown).toContain(`"account_id":"${digits}"`);
  });

  it('from a webhook to the application and to records, and back to the function', async () => {
    const shown = await call('GET', '/integrations/numbers?include=webhook');
    const { webhook_url: address } = (JSON.parse(shown) as { data: { webhook_url: string } }).data;
    const path = `${new URL(address).pathname}?svcConnectionId=ann`;
    const event = {
      type: 'note.edited',
      note_id: rawInteger(digits),
      list: [rawInteger(`-${digits}`), 1],
    };
    const sent = standardWebhook(gateway.url + path, secret, event, Date.now());
    expect((await fetch(sent.url, { method: 'POST', ...sent })).status).toBe(200);
    const [forwarded] = await app.got(1, '/app');
    expect(forwarded?.body).toContain(
      `"payload":{"list":[-${digits},1],"note_id":${digits},"type":"note.edited"}`,
    );
    await expect
      .poll(() => call('GET', '/records?model=Note'), { timeout: 60_000 })
      .toContain('"readBack"');
    const record = `"id":"${digits}","big":"${digits}","text":"${digits}","nanoseconds":1700000000000000000,"readBack":["${digits}","number"]`;
    expect(await call('GET', '/records?model=Note')).toContain(record);
    const { data } = JSON.parse(await call('GET', '/webhook-messages?kind=forward')) as {
      data: { id: string }[];
    };
    expect(await call('GET', `/webhook-messages/${data[0]?.id ?? ''}`)).toContain(
      `"note_id":${digits}`,
    );
  });
});
