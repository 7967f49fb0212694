import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, type Client } from '#client/index.ts';

let opened = new AsyncDisposableStack();
afterEach(async () => {
  await opened.disposeAsync();
  opened = new AsyncDisposableStack();
});

type Answer = (response: ServerResponse) => void;

const ok: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"done":true}');
};
/** With `Retry-After: 0`, so that no test waits. */
const refused =
  (status: number, code = 'refused', retryAfter = '0'): Answer =>
  (response) => {
    const headers = { 'content-type': 'application/json', 'retry-after': retryAfter };
    response.writeHead(status, headers).end(JSON.stringify({ error: { code } }));
  };
const cut: Answer = (response) => response.destroy();
const cutInBody: Answer = (response) => {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
  response.write('{"done":');
  setImmediate(() => response.destroy());
};

/** A client of a server with these answers, in order; the last one again and again. */
async function clientOf(
  answers: readonly Answer[],
  options: { readonly retries?: number } = {},
): Promise<{ readonly client: Client; readonly seen: string[] }> {
  const seen: string[] = [];
  const server = createServer(({ method, headers }, response) => {
    seen.push([method, headers['idempotency-key']].filter(Boolean).join(' '));
    answers[Math.min(seen.length, answers.length) - 1]?.(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  opened.defer(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return { client: createClient({ url: `http://127.0.0.1:${port}`, key: 'k', ...options }), seen };
}

describe('a read', () => {
  it.each([
    ['429', refused(429)],
    ['503', refused(503)],
    ['500', refused(500)],
    ['408', refused(408)],
    ['a broken connection', cut],
    ['a body that breaks off', cutInBody],
  ])('is repeated after %s', async (_, failure) => {
    const { client, seen } = await clientOf([failure, ok]);
    expect(await client.send('GET', '/x')).toEqual({ done: true });
    expect(seen).toEqual(['GET', 'GET']);
  });

  it.each([
    ['404', refused(404)],
    ['424, a failure of the provider', refused(424)],
    ['501', refused(501)],
    ['a wait of more than a minute', refused(429, 'too_many_request', '61')],
    [
      'a wait until a time of more than a minute away',
      refused(503, 'x', new Date(Date.now() + 3_600_000).toUTCString()),
    ],
  ])('is not repeated after %s', async (_, failure) => {
    const { client, seen } = await clientOf([failure, ok]);
    await expect(client.send('GET', '/x')).rejects.toMatchObject({ name: 'ApiError' });
    expect(seen).toEqual(['GET']);
  });

  it('is repeated after the time that Retry-After names, when that has passed', async () => {
    const { client, seen } = await clientOf([
      refused(503, 'x', new Date(Date.now() - 5_000).toUTCString()),
      ok,
    ]);
    expect(await client.send('GET', '/x')).toEqual({ done: true });
    expect(seen).toHaveLength(2);
  });

  it('is repeated as often as the client or the request says, and then throws the last refusal', async () => {
    const { client, seen } = await clientOf([refused(500), refused(503, 'last')], { retries: 1 });
    await expect(client.send('GET', '/x')).rejects.toMatchObject({ code: 'last', status: 503 });
    expect(seen).toHaveLength(2);
    await expect(client.send('GET', '/x', { retries: 0 })).rejects.toMatchObject({ status: 503 });
    expect(seen).toHaveLength(3);
  });

  it('ends at once when its signal aborts in a wait', async () => {
    const { client, seen } = await clientOf([refused(503, 'x', '60'), ok]);
    const stopping = new AbortController();
    const reading = client.send('GET', '/x', { signal: stopping.signal });
    await expect.poll(() => seen.length).toBe(1);
    stopping.abort();
    await expect(reading).rejects.toMatchObject({ code: 'unreachable' });
    expect(seen).toHaveLength(1);
  });
});

describe('a change', () => {
  it('is sent once without an idempotency key', async () => {
    const { client, seen } = await clientOf([cut, ok]);
    await expect(client.send('POST', '/x')).rejects.toMatchObject({ code: 'unreachable' });
    expect(seen).toEqual(['POST']);
  });

  it('is repeated with the same idempotency key', async () => {
    const { client, seen } = await clientOf([cut, refused(429), ok]);
    expect(await client.send('POST', '/x', { idempotencyKey: 'k1' })).toEqual({ done: true });
    expect(seen).toEqual(['POST k1', 'POST k1', 'POST k1']);
  });

  it('is not repeated when its run was interrupted: the key keeps that answer', async () => {
    const { client, seen } = await clientOf([refused(503, 'run_interrupted'), ok]);
    const sent = client.send('POST', '/x', { idempotencyKey: 'k1' });
    await expect(sent).rejects.toMatchObject({ code: 'run_interrupted' });
    expect(seen).toHaveLength(1);
  });
});

describe('a raw response', () => {
  it('is requested once', async () => {
    const { client, seen } = await clientOf([refused(503), ok]);
    expect((await client.fetch('/x')).status).toBe(503);
    expect(seen).toHaveLength(1);
  });
});
