import { request as open } from 'node:http';
import { beforeAll, describe, expect, it } from 'vitest';
import { slowerThan } from '#test/support/judges/cpu-time.ts';
import { repeated } from '#test/support/judges/hostile-text.ts';
import { accessTo, type GatewayAccess } from '#test/support/processes/gateway.ts';
import { sharedGateway } from '#test/support/worlds/shared-gateways.ts';

let gateway: GatewayAccess;
beforeAll(async () => {
  const { url, ...keys } = await sharedGateway();
  gateway = accessTo(url, keys);
});

interface Raw {
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Sends what it is given as it is, and reads the answer away. */
function send({ method, path, headers = {}, body = '' }: Raw): Promise<void> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(gateway.url);
    const sent = { 'content-length': String(Buffer.byteLength(body)), ...headers };
    const going = open({ hostname, port, method, path, headers: sent }, (response) => {
      response.on('end', resolve).on('error', reject).resume();
    });
    going.on('error', reject);
    going.end(body);
  });
}

describe('a header of 30 KB', () => {
  /** With the rest of the head it stays below what the server takes. */
  const chars = 30 * 1024;
  const ratioMax = 5;
  const key = () => `Bearer ${gateway.key}`;
  const ofConnection = () => ({
    authorization: key(),
    'connection-id': 'acme',
    'provider-config-key': 'crm',
  });
  const requests: readonly [string, () => Raw, readonly string[]][] = [
    [
      'a script of the connect page',
      () => ({ method: 'GET', path: '/connect/embed.js' }),
      ['accept-encoding', 'if-none-match', 'traceparent', 'authorization', 'x-other'],
    ],
    [
      'the callback of a sign-in',
      () => ({ method: 'GET', path: '/oauth/callback' }),
      ['accept', 'referer'],
    ],
    [
      'an upgrade',
      () => ({
        method: 'GET',
        path: '/',
        headers: {
          connection: 'upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          // Too short: refused after the other headers were looked at.
          'sec-websocket-key': 'x',
        },
      }),
      ['sec-websocket-protocol', 'sec-websocket-extensions', 'sec-websocket-key', 'origin'],
    ],
    [
      'a provider',
      () => ({ method: 'GET', path: '/providers/slack', headers: { authorization: key() } }),
      ['accept-language', 'content-type'],
    ],
    [
      'records',
      () => ({ method: 'GET', path: '/records?model=Contact', headers: ofConnection() }),
      ['connection-id', 'provider-config-key'],
    ],
    [
      'a change',
      () => ({
        method: 'POST',
        path: '/sync/pause',
        headers: { authorization: key(), 'content-type': 'application/json' },
        body: '{}',
      }),
      ['idempotency-key', 'user-agent', 'content-encoding', 'svc-is-sync'],
    ],
    [
      'a proxied call',
      () => ({ method: 'GET', path: '/proxy/contacts', headers: ofConnection() }),
      [
        'retry-on',
        'retries',
        'base-url-override',
        'decompress',
        'svc-proxy-x-other',
        'svc-proxy-cookie',
      ],
    ],
    [
      'the log as it grows',
      () => ({ method: 'GET', path: '/logs/tail', headers: { authorization: key() } }),
      ['last-event-id'],
    ],
  ];
  const cases = requests.flatMap(([what, request, headers]) =>
    headers.map((header) => [header, what, request] as const),
  );
  const units = [' ', ',', ';', '=', '0', '1', '/', '.', '"', 'a,', ' ,', '%2', '\u00e9'];

  it.each(cases)(
    '%s of %s costs at most 5 times as much as harmless text',
    async (header, _, request) => {
      const sendAll = (repeating: readonly string[]) => async () => {
        for (const unit of repeating) {
          const asked = request();
          // The end makes an expression look back.
          const value = `${starts[header] ?? ''}${repeated(unit, chars)}!`;
          // An answer is ours whatever it says.
          await send({ ...asked, headers: { ...asked.headers, [header]: value } });
        }
      };
      const found = await slowerThan(ratioMax, sendAll(units), sendAll(units.map(() => 'a')), {
        cpuMs: gatewayCpuMs,
      });
      expect(found).toBeNull();
    },
  );

  /** Without these nothing reads further. */
  const starts: Readonly<Record<string, string>> = {
    'accept-encoding': 'br;q=0.',
    'accept-language': 'de;q=0.',
    authorization: 'Bearer svc_env_',
    'content-type': 'application/json',
    'user-agent': 'svc-cli/',
    traceparent: '00-',
    // Refused: without one the stream would begin.
    'last-event-id': 'x',
  };

  async function gatewayCpuMs(): Promise<number> {
    const text: unknown = (await gateway.call('GET', '/metrics', { key: gateway.accountKey })).body;
    const [, seconds] = /^process_cpu_seconds_total(?:\{[^}]*\})? (\S+)$/m.exec(String(text)) ?? [];
    return Number(seconds) * 1000;
  }
});
