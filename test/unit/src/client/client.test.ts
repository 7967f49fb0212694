import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, createClient, type Client } from '#client/index.ts';

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

/** A client of a server that answers as the test says. */
async function clientOf(handler: Handler): Promise<Client> {
  return createClient({ url: await serve(handler), key: 'the-key', userAgent: 'a test' });
}

/** @returns its URL */
async function serve(handler: Handler): Promise<string> {
  const server = createServer(handler);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(async () => {
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

const json = (response: ServerResponse, body: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body));
};

describe('a refusal of several fields', () => {
  it.each([
    ['has those that its message lacks', 'Invalid body.', 'Invalid body.\n  how: no text'],
    ['has each once', 'Invalid inputs: how: no text', 'Invalid inputs: how: no text'],
  ])('%s', async (_what, message, shown) => {
    const errors = [{ code: 'custom', message: 'no text', path: ['how'] }];
    const error = { code: 'invalid_body', message, fix: 'Correct it.', errors };
    const client = await clientOf((_request, response) => json(response, { error }, 400));
    await expect(client.request('GET /environments')).rejects.toMatchObject({ message: shown });
  });
});

describe('a response as it is', () => {
  it('is returned whatever its status, for a request with key and name of the client', async () => {
    const client = await clientOf(({ headers, method, url }, response) => {
      json(response, { method, url, key: headers.authorization, by: headers['user-agent'] }, 404);
    });
    const response = await client.fetch('/proxy/x?a=1', { method: 'PUT', body: 'text' });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({
      method: 'PUT',
      url: '/proxy/x?a=1',
      key: 'Bearer the-key',
      by: 'a test',
    });
  });

  it('is text when it is lines of JSON', async () => {
    const client = await clientOf((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      response.end('{"seq":1}\n{"seq":2}\n');
    });
    const lines = await client.request('GET /audit/export', { query: { environment: 'account' } });
    expect(lines).toBe('{"seq":1}\n{"seq":2}\n');
  });
});

describe('a client without a key', () => {
  it('sends the headers of the moment with each request', async () => {
    let token = 'first';
    const server = await serve(({ headers }, response) => {
      json(response, { token: headers['csrf-token'], key: headers.authorization ?? null });
    });
    const client = createClient({ url: server, headers: () => ({ 'csrf-token': token }) });
    expect(await client.send('GET', '/x')).toEqual({ token: 'first', key: null });
    token = 'second';
    expect(await client.send('POST', '/x', { headers: { 'csrf-token': 'own' } })).toEqual({
      token: 'second',
      key: null,
    });
  });
});

describe('an undefined field', () => {
  it('is not sent', async () => {
    const client = await clientOf(({ url }, response) => json(response, { url }));
    const query = { limit: undefined, search: 'x' };
    expect(await client.request('GET /connections', { query })).toEqual({
      url: '/connections?search=x',
    });
  });
});

describe('the pages of a list', () => {
  it('are read up to the last one, with the same query', async () => {
    const asked: unknown[] = [];
    const client = await clientOf(({ url }, response) => {
      asked.push(url);
      const cursor = new URLSearchParams(url?.split('?')[1]).get('cursor');
      json(response, { records: [], next_cursor: cursor === null ? 'c 1' : null });
    });
    const headers = { 'connection-id': 'acme', 'provider-config-key': 'crm' };
    const query = { model: 'Contact' };
    const pages = await Array.fromAsync(client.pages('GET /records', { query, headers }));
    expect(pages.map(({ next_cursor: next }) => next)).toEqual(['c 1', null]);
    expect(asked).toEqual(['/records?model=Contact', '/records?model=Contact&cursor=c+1']);
  });

  it('follow the cursor of a pagination too', async () => {
    const client = await clientOf(({ url }, response) => {
      const cursor = url === '/runs' ? 'next' : null;
      json(response, { data: [], pagination: { cursor } });
    });
    expect(await Array.fromAsync(client.pages('GET /runs'))).toHaveLength(2);
  });

  it.each([1, 2, 7])('that go in a circle of %i end with an error', async (length) => {
    let requests = 0;
    const client = await clientOf((_request, response) => {
      requests += 1;
      json(response, { data: [], pagination: { cursor: `c${requests % length}` } });
    });
    const read = Array.fromAsync(client.pages('GET /runs'));
    await expect(read).rejects.toMatchObject({ code: 'invalid_answer' });
    expect(requests).toBeLessThan(4 * length + 4);
  });
});

describe('a stream of events', () => {
  const input = () => ({ query: { operationId: 'a b' }, signal: new AbortController().signal });

  it('is resumed after its last event when it breaks off', async () => {
    const asked: unknown[] = [];
    const client = await clientOf(({ url, headers }, response) => {
      asked.push([url, headers.accept, headers['last-event-id']]);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (asked.length === 1) {
        response.write(':\n\nid: 7\nevent: message\ndata: {"a":\ndata: 1}\n\ndata: {"lo');
        setImmediate(() => response.destroy());
      } else response.end('data: 2\n\n');
    });
    const stopping = new AbortController();
    const found: unknown[] = [];
    for await (const event of client.events('GET /logs/tail', {
      ...input(),
      signal: stopping.signal,
    })) {
      found.push(event);
      if (found.length === 2) stopping.abort();
    }
    expect(found).toEqual([
      { id: '7', event: 'message', data: { a: 1 } },
      { id: null, event: 'message', data: 2 },
    ]);
    expect(asked).toEqual([
      ['/logs/tail?operationId=a+b', 'text/event-stream', undefined],
      ['/logs/tail?operationId=a+b', 'text/event-stream', '7'],
    ]);
  });

  it('that is refused throws', async () => {
    const client = await clientOf((_, response) => {
      json(response, { error: { code: 'forbidden', message: 'No.' } }, 403);
    });
    const first = client.events('GET /logs/tail', input()).next();
    await expect(first).rejects.toMatchObject({ code: 'forbidden', status: 403 });
  });

  it('that was never reached throws', async () => {
    const client = createClient({ url: 'http://127.0.0.1:9', key: 'k' });
    const first = client.events('GET /logs/tail', input()).next();
    await expect(first).rejects.toBeInstanceOf(ApiError);
  });
});
