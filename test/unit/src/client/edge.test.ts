import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { expect, it } from 'vitest';

/** What browsers and edge runtimes have; `process`, `Buffer` and `require` are not among it. */
const webGlobals = {
  AbortController,
  AbortSignal,
  atob,
  clearTimeout,
  crypto,
  fetch,
  Headers,
  setTimeout,
  TextDecoder,
  TextDecoderStream,
  TextEncoder,
  URL,
  URLSearchParams,
};

/** Reads pages and events, tries again and verifies, as a worker would. */
const worker = `
import { createClient, isWebhook, verifyHmac, verifyWebhook } from './src/client/index.ts';

export async function run(url, { body, headers }, key) {
  const client = createClient({ url, key: 'k' });
  const pages = [];
  const stream = { headers: { 'provider-config-key': 'crm', 'connection-id': 'acme' } };
  for await (const page of client.pages('GET /records', { ...stream, query: { model: 'M' } }))
    pages.push(page.next_cursor);
  const stopping = new AbortController();
  const events = [];
  for await (const { data } of client.events('GET /logs/tail', { signal: stopping.signal })) {
    events.push(data);
    stopping.abort();
  }
  const { id, payload } = await verifyWebhook({ body, headers }, key);
  const hmac = await verifyHmac({ body, headers }, key);
  return JSON.stringify({ pages, events, id, isWebhook: isWebhook(payload), hmac });
}
`;

it('the client runs where only the globals of the web are', async () => {
  const bundle = await build({
    stdin: { contents: worker, resolveDir: new URL('../../../..', import.meta.url).pathname },
    bundle: true,
    write: false,
    platform: 'browser',
    format: 'iife',
    globalName: 'worker',
    target: 'es2022',
  });
  const text = bundle.outputFiles.map((file) => file.text).join('');
  let failures = 1;
  const server = createServer(({ url = '' }, response) => {
    if (url.startsWith('/logs')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: {"a":1}\n\n');
      return;
    }
    if ((failures -= 1) >= 0) {
      response.writeHead(429, { 'retry-after': '0' }).end();
      return;
    }
    const next_cursor = url.includes('cursor=') ? null : 'c1';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ records: [], next_cursor }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  try {
    const body = JSON.stringify({ type: 'test', from: 'svc' });
    const time = String(Math.floor(Date.now() / 1000));
    const signed = (data: string, encoding: 'base64' | 'hex'): string =>
      createHmac('sha256', 'the key').update(data).digest(encoding);
    const headers = {
      'webhook-id': 'm1',
      'webhook-timestamp': time,
      'webhook-signature': `v1,${signed(`m1.${time}.${body}`, 'base64')}`,
      'x-svc-hmac-sha256': signed(body, 'hex'),
    };
    const input = JSON.stringify([`http://127.0.0.1:${port}`, { body, headers }, 'the key']);
    const context = createContext({ ...webGlobals });
    const result = runInContext(`${text}\nworker.run(...${input})`, context) as Promise<string>;
    expect(JSON.parse(await result)).toEqual({
      pages: ['c1', null],
      events: [{ a: 1 }],
      id: 'm1',
      isWebhook: true,
      hmac: true,
    });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
