import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '#test/support/processes/gateway.ts';
import { withLimits } from '#test/support/processes/with-limits.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

let world: CrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  const limits = {
    actionStartByMs: 2_000,
    actionRunMaxMs: 4_000,
    runGraceMs: 100,
    compileMaxMs: 1,
    hostCallsMax: 50,
    proxyHeadMs: 1_000,
  };
  const env = { SVC_PROXY_TIMEOUT_SECONDS: '3', SVC_EGRESS_ALLOW: '127.0.0.0/8' };
  world = await openCrmWorld({ env: { ...withLimits(limits), ...env } });
  crm = await world.connect();
  const reconciliationScope = { kind: 'integration', integrationId: 'crm' };
  const functions = [
    action('waits', 'return new Promise((resolve) => setTimeout(resolve, 600_000));'),
    action('chats', `for (;;) await svc.getMetadata();`),
    action('quick', 'return 1;'),
  ];
  const body = { reconciliationScope, functions };
  succeeded(await world.gateway.call('POST', '/functions/deployments/bundle', { body }));
});
afterAll(() => world[Symbol.asyncDispose]());

const action = (syncName: string, body: string) => ({
  type: 'action',
  syncName,
  providerConfigKey: 'crm',
  models: [],
  runs: null,
  fileBody: {
    js: `const { z } = require('zod');\nexports.default = { type: 'action', description: '', input: z.any(), output: z.any(), exec: async (svc) => { ${body} } };`,
    ts: '// of a test of limits',
  },
});
const codeOf = ({ status, body }: Answer): string =>
  `${status} ${(body as { error?: { code: string } }).error?.code ?? ''}`;
interface Listed {
  readonly data: readonly { readonly id: string; readonly ended_at: string | null }[];
}
const post = (path: string, body: object) => world.gateway.call('POST', path, { body });

describe('an action', () => {
  it('§16 the time of an action: one that takes too long is ended; one that finds no place in time does not run', async () => {
    // A connection has 16 places.
    const ask = () => Promise.all(Array.from({ length: 17 }, () => crm.action('waits')));
    const codes = await eventually(
      async () => (await ask()).map(codeOf),
      (all) => all.includes('504 execution_timeout'),
    );
    expect(codes).toContain('503 execution_environment_unavailable');
  });

  it('that calls the host too often is ended', async () => {
    expect(codeOf(await crm.action('chats'))).toBe('424 function_runtime_other');
  });
});

describe('a function that takes too long to compile', () => {
  const code = 'export default 1;';

  it('is not compiled', async () => {
    expect(codeOf(await post('/functions/compile', { code }))).toBe('504 timeout');
  });

  it('is not tried out', async () => {
    const of = { integration_id: 'crm', function_type: 'action', connection_id: crm.id };
    expect(codeOf(await post('/functions/dryruns', { ...of, code }))).toBe('504 timeout');
  });

  it('is not replayed', async () => {
    const recording = '/integrations/crm/functions/quick/recording?type=action';
    const { gateway } = world;
    succeeded(await gateway.call('PUT', recording, { body: { record_calls: true } }));
    succeeded(await crm.action('quick', {}));
    const path = `/runs?connection_id=${crm.id}&function=quick&limit=1`;
    const [run] = await eventually(
      async () => (succeeded(await gateway.call('GET', path)) as Listed).data,
      ([run]) => run?.ended_at != null,
    );
    expect(codeOf(await post(`/runs/${run?.id}/replays`, { code }))).toBe('504 timeout');
  });
});

describe('a proxied call whose provider', () => {
  /** A provider that answers any connection with the text, and then with the piece again and again. */
  async function endless(text: string, piece: string) {
    const server = createServer((socket) => {
      const next = (): void => {
        if (!socket.destroyed) socket.write(piece, () => setTimeout(next, 100));
      };
      socket.on('error', () => socket.destroy());
      socket.once('data', () => socket.write(text, next));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    const close = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
    return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close };
  }
  const proxied = (url: string, more: Readonly<Record<string, string>> = {}) =>
    fetch(`${world.gateway.url}/proxy/x`, {
      headers: {
        ...crm.headers,
        authorization: `Bearer ${world.gateway.key}`,
        'base-url-override': url,
        ...more,
      },
    });

  it('sends a header line every 100 ms, and never the last one, is answered 504', async () => {
    await using provider = await endless('HTTP/1.1 200 OK\r\n', 'x: 1\r\n');
    const answer = await proxied(provider.url);
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'ETIMEDOUT' }]);
  });

  it('sends a byte every 100 ms, and never the last one, is cut', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n';
    await using provider = await endless(head, 'x');
    await expect((await proxied(provider.url)).text()).rejects.toThrow('terminated');
  });

  it('asks to be called again after the time of the call is answered 504 at once', async () => {
    const head = 'HTTP/1.1 429 No\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n';
    await using provider = await endless(head, '');
    const answer = await proxied(provider.url, { retries: '1' });
    expect([answer.status, await answer.json()]).toMatchObject([504, { code: 'ETIMEDOUT' }]);
  });
});
