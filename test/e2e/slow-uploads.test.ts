import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEchoUpstream, type EchoUpstream } from '#test/support/fakes/echo-upstream.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import { openProxyWorld, type ProxyWorld } from '#test/support/worlds/proxy-world.ts';

const requestMs = 2_000;
const idleMs = 4_000;
/** Longer than a request, and than a pause, may take. */
const uploadMs = 8_000;
const everyMs = 200;

let stack: AsyncDisposableStack;
let upstream: EchoUpstream;
let world: ProxyWorld;
beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-slow-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  upstream = stack.use(await openEchoUpstream());
  const shorter = withLimits({ requestHeadMs: 2_000, requestMs, proxyIdleMs: idleMs });
  const env = { ...shorter, SVC_PROXY_TIMEOUT_SECONDS: '20' };
  world = stack.use(await openProxyWorld(folder, upstream.url, env));
});
afterAll(() => stack.disposeAsync());

interface Sent {
  /** What is sent at once. */
  readonly head: string;
  /** Pieces that follow, one after the other; then the client waits. */
  readonly bytes: number;
  /** One byte. */
  readonly piece?: string;
}

/** All that is answered until the gateway has closed the connection; the client does not close it. */
function sendSlowly({ head, bytes, piece = '1' }: Sent): Promise<string> {
  const { hostname, port } = new URL(world.gateway.url);
  return new Promise((resolve) => {
    const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    let text = '';
    let left = bytes;
    const timer = setInterval(() => {
      left -= 1;
      if (left >= 0) socket.write(piece);
      // Who has sent everything closes after the answer; who goes on must be cut.
      else if (socket.readableEnded) socket.end();
    }, everyMs);
    socket.setEncoding('latin1').on('data', (answered: unknown) => (text += String(answered)));
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      clearInterval(timer);
      resolve(text);
    });
    socket.write(head);
  });
}

const headOf = (line: string, headers: Readonly<Record<string, string>>): string => {
  const lines = Object.entries({ host: 'x', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return [line, ...lines, '', ''].join('\r\n');
};

const upload = (length: number, more: Readonly<Record<string, string>> = {}): string =>
  headOf('POST /proxy/upload HTTP/1.1', {
    ...world.headers,
    'content-length': String(length),
    ...more,
  });

const endless = Number.POSITIVE_INFINITY;
/** A body that streams, and one that is kept for another attempt. */
const ways: [string, Readonly<Record<string, string>>][] = [
  ['streams', {}],
  ['is kept', { retries: '1' }],
];
const tooSlow = /^HTTP\/1\.1 408 [^]*"code":"invalid_request"[^]*$/;

describe.concurrent('an upload through the proxy that', () => {
  const bytes = uploadMs / everyMs;

  it.each(ways)('%s takes as long as it comes', async (_, more) => {
    const answer = await sendSlowly({
      head: upload(bytes, { ...more, connection: 'close' }),
      bytes,
    });
    expect(answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(answer).toContain(`"body":"${'1'.repeat(bytes)}"`);
  });

  it.each(ways)('%s and stands still is answered 408', async (_, more) => {
    expect(await sendSlowly({ head: upload(bytes, more), bytes: 3 })).toMatch(tooSlow);
  });

  it.each(ways)('%s and never ends has the time of the call', async (_, more) => {
    const answer = await sendSlowly({ head: upload(1_000_000, more), bytes: endless });
    expect(answer).toMatch(/^HTTP\/1\.1 504 [^]*"code":"ETIMEDOUT"/);
  });

  it('is refused is drained, for a limited time', async () => {
    const head = upload(1_000_000, { authorization: 'Bearer no-key' });
    expect(await sendSlowly({ head, bytes: endless })).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('is answered early is drained, for a limited time', async () => {
    upstream.onHead('/early', (_request, response) => void response.end('early'));
    const head = upload(1_000_000).replace('/upload', '/early');
    expect(await sendSlowly({ head, bytes: endless })).toMatch(/^HTTP\/1\.1 200 [^]*early/);
  });

  it('waits for the provider is none of a slow client', async () => {
    upstream.onHead('/deaf', (request) => void request.pause());
    const body = Buffer.alloc(32 * 1024 ** 2);
    const headers = { ...world.headers, 'content-type': 'text/plain' };
    const url = `${world.gateway.url}/proxy/deaf`;
    const answer = await fetch(url, { method: 'POST', headers, body });
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'ETIMEDOUT' }]);
  });
});

describe.concurrent('a request that comes slowly', () => {
  const create = (key: string, more: number): string => {
    const body = JSON.stringify({ provider: 'upstream', unique_key: key });
    const { authorization = '' } = world.headers;
    const headers = {
      authorization,
      'content-type': 'application/json',
      'content-length': String(body.length + more),
    };
    return headOf('POST /integrations HTTP/1.1', headers) + body;
  };

  it('is answered 408 when its body is JSON, however steady it is', async () => {
    const sent = { head: create('endless', 1_000_000), bytes: endless, piece: ' ' };
    expect(await sendSlowly(sent)).toMatch(tooSlow);
  });

  it('is not done when its body is whole after all', async () => {
    const bytes = (3 * requestMs) / everyMs;
    expect(await sendSlowly({ head: create('late', bytes), bytes, piece: ' ' })).toMatch(tooSlow);
    expect((await world.gateway.call('GET', '/integrations/late')).status).toBe(404);
  });

  it('is answered 408 when its head never ends', async () => {
    const head = 'GET /health HTTP/1.1\r\nx: ';
    expect(await sendSlowly({ head, bytes: endless })).toMatch(tooSlow);
  });
});
