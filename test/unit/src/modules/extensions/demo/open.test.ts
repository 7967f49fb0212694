import { createHmac, createHash } from 'node:crypto';
import { request } from 'node:http';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEgressPolicy } from '#adapters/http-client/egress.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { definitionProblems } from '#modules/connections/providers/load-catalogue.ts';
import { definitionSchema } from '#modules/connections/providers/schema.ts';
import { demoClientSecret } from '#modules/extensions/demo/definitions.ts';
import { openDemo } from '#modules/extensions/demo/open.ts';

const stack = new AsyncDisposableStack();
afterAll(() => stack.disposeAsync());

const gatewayUrl = 'http://127.0.0.1:3003';
const callback = `${gatewayUrl}/oauth/callback`;
const logger = pino({ level: 'silent' });
let now = Date.UTC(2026, 5, 1);
const clock = { now: () => now };
const vault = {
  fingerprint: (purpose: string, text: string) =>
    createHmac('sha256', 'root').update(`${purpose} ${text}`).digest('hex'),
} as unknown as Vault;

const open = () =>
  openDemo(stack, { vault, clock: clock as never, logger, gatewayUrl: () => gatewayUrl });

describe('the demo provider', () => {
  let opened: Awaited<ReturnType<typeof open>>;
  let host: string;
  beforeAll(async () => {
    opened = await open();
    [host = ''] = opened.allow;
  });

  interface Sent {
    readonly method?: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: string;
  }
  /** `fetch` does not let a test set `Host`. */
  const send = (path: string, { method = 'GET', headers = {}, body }: Sent = {}) =>
    new Promise<{ status: number; headers: Record<string, unknown>; text: string }>(
      (resolve, reject) => {
        const sent = request(`http://${host}${path}`, { method, headers }, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.once('end', () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
          );
        });
        sent.once('error', reject);
        sent.end(body);
      },
    );
  const asKey = { authorization: 'Bearer demo' };
  const verifier = 'v'.repeat(43);
  const query = (changed: Readonly<Record<string, string>> = {}) =>
    `/oauth/authorize?${new URLSearchParams({
      client_id: 'svc-demo',
      redirect_uri: callback,
      response_type: 'code',
      state: 'a&b',
      code_challenge_method: 'S256',
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      ...changed,
    }).toString()}`;
  const allow: Sent = {
    method: 'POST',
    headers: { 'sec-fetch-site': 'same-origin' },
    body: 'answer=allow',
  };
  const token = (form: Readonly<Record<string, string>>) =>
    send('/oauth/token', {
      method: 'POST',
      body: new URLSearchParams({
        client_id: 'svc-demo',
        client_secret: demoClientSecret(vault),
        ...form,
      }).toString(),
    });
  const codeOf = async (): Promise<string> => {
    const { headers } = await send(query(), allow);
    return new URL(String(headers['location'])).searchParams.get('code') ?? '';
  };
  const exchange = (code: string, code_verifier = verifier) =>
    token({ grant_type: 'authorization_code', code, code_verifier });
  const tokensIn = (text: string) =>
    JSON.parse(text) as { access_token: string; refresh_token: string };

  it('has valid definitions', () => {
    for (const { name, ...definition } of opened.definitions) {
      expect(definitionProblems(definitionSchema.parse(definition)), name).toEqual([]);
    }
    expect(opened.definitions.map(({ name }) => name)).toEqual(['demo-oauth', 'demo-key']);
  });

  it('opens the egress guard for its own host and port alone', () => {
    const policy = createEgressPolicy(opened.allow);
    const port = Number(host.split(':')[1]);
    policy.checkUrl(new URL(`http://127.0.0.1:${port}/me`));
    for (const url of [
      `http://127.0.0.1:${port + 1}/`,
      `http://127.0.0.2:${port}/`,
      gatewayUrl,
      'http://127.0.0.1/',
    ]) {
      expect(() => policy.checkUrl(new URL(url)), url).toThrow();
    }
    expect(() => policy.checkAddresses('rebound.example', port, ['127.0.0.2'])).toThrow();
  });

  it.each(['rebound.example', 'localhost', '127.0.0.1', ''])(
    'answers no request for the host "%s"',
    async (name) => {
      const port = host.split(':')[1] ?? '';
      const headers = { ...asKey, host: name === '127.0.0.1' ? name : `${name}:${port}` };
      expect((await send('/contacts', { headers })).status).toBe(421);
      expect((await send(query(), { headers })).status).toBe(421);
    },
  );

  it('lets no page of another origin read an answer', async () => {
    const headers = { ...asKey, origin: 'https://evil.example' };
    for (const method of ['GET', 'OPTIONS']) {
      const { headers: sent } = await send('/me', { method, headers });
      expect(Object.keys(sent).filter((name) => name.startsWith('access-control-'))).toEqual([]);
      expect(sent['cross-origin-resource-policy']).toBe('same-origin');
    }
  });

  it('redirects only to the callback of its gateway', async () => {
    for (const redirect_uri of [
      'https://evil.example/oauth/callback',
      `${callback}/more`,
      `${callback}?next=x`,
      'http://127.0.0.1:3004/oauth/callback',
      '',
    ]) {
      for (const sent of [{}, allow]) {
        const answer = await send(query({ redirect_uri }), sent);
        expect(answer.status).toBe(400);
        expect(answer.headers).not.toHaveProperty('location');
      }
    }
  });

  it.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    {},
  ])('takes the answer only from its own page, not with %j', async (headers) => {
    expect((await send(query(), { ...allow, headers })).status).toBe(403);
  });

  it('cannot be framed, runs no script and shows nothing of the request', async () => {
    const { headers, text } = await send(query({ state: '<script>' }));
    expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(headers['content-security-policy']).toContain("default-src 'none'");
    expect(text).not.toContain('<script');
  });

  it('returns what a person denies', async () => {
    const { status, headers } = await send(query(), { ...allow, body: 'answer=deny' });
    expect(status).toBe(303);
    expect(headers['location']).toBe(`${callback}?error=access_denied&state=a%26b`);
  });

  it('gives tokens for a code once, to the client with the verifier', async () => {
    const code = await codeOf();
    expect((await exchange(code, 'w'.repeat(43))).status).toBe(400);
    expect((await exchange(code)).status).toBe(400);
    const other = await codeOf();
    const form = { grant_type: 'authorization_code', code: other, code_verifier: verifier };
    expect((await token({ ...form, client_secret: 'guess' })).status).toBe(401);
    const { text } = await exchange(other);
    const { access_token } = tokensIn(text);
    const headers = { authorization: `Bearer ${access_token}` };
    expect((await send('/me', { headers })).status).toBe(200);
    expect((await exchange(other)).status).toBe(400);
    now += 3_600_000;
    expect((await send('/me', { headers })).status).toBe(401);
  });

  it('rotates refresh tokens, and ends what was renewed with a used one', async () => {
    const first = tokensIn((await exchange(await codeOf())).text);
    const refresh = (refresh_token: string) =>
      token({ grant_type: 'refresh_token', refresh_token });
    const second = tokensIn((await refresh(first.refresh_token)).text);
    expect(second.refresh_token).not.toBe(first.refresh_token);
    expect((await refresh(first.refresh_token)).status).toBe(400);
    expect((await refresh(second.refresh_token)).status).toBe(400);
    const headers = { authorization: `Bearer ${second.access_token}` };
    expect((await send('/me', { headers })).status).toBe(401);
    expect((await refresh(second.refresh_token.replace(/.$/, '0'))).status).toBe(400);
  });

  it('pages through the same contacts, and limits the rate now and then', async () => {
    const ids: string[] = [];
    const statuses: number[] = [];
    let after: string | null = null;
    do {
      const path: string = `/contacts?limit=60${after === null ? '' : `&after=${after}`}`;
      const { status, headers, text } = await send(path, { headers: asKey });
      statuses.push(status);
      if (status === 429) {
        expect(headers['retry-after']).toBe('1');
        continue;
      }
      const page = JSON.parse(text) as { data: { id: string }[]; next: string | null };
      ids.push(...page.data.map(({ id }) => id));
      after = page.next;
    } while (after !== null);
    expect(new Set(ids).size).toBe(250);
    expect(ids).toHaveLength(250);
    expect(statuses).toEqual([200, 200, 200, 200, 429, 200]);
    expect((await send('/contacts?limit=0', { headers: asKey })).status).toBe(400);
  });

  it('sends webhooks nowhere but to its gateway', async () => {
    const subscribe = (url: string) =>
      send('/webhook', { method: 'PUT', headers: asKey, body: JSON.stringify({ url }) });
    for (const url of [
      'https://evil.example/webhook/x',
      'http://127.0.0.1:3003/connections',
      'http://127.0.0.1:3003@evil.example/webhook/x',
      'http://127.0.0.1:3003/webhook/../connections',
      'file:///etc/passwd',
      '',
    ]) {
      expect((await subscribe(url)).status, url).toBe(400);
    }
    expect((await subscribe(`${gatewayUrl}/webhook/e/demo`)).status).toBe(200);
  });

  it('refuses too large a body, a path of another host and a key that is not its own', async () => {
    const body = 'x'.repeat(70_000);
    expect((await send('/me', { method: 'POST', headers: asKey, body })).status).toBe(413);
    expect((await send('//evil.example/me', { headers: asKey })).status).not.toBe(200);
    expect((await send('/me', { headers: { authorization: 'Bearer other' } })).status).toBe(401);
    expect((await send('/contacts/none', { headers: asKey })).status).toBe(404);
  });
});
