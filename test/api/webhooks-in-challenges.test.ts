import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { checkedFetch } from '#test/support/judges/answers.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

const client = { type: 'OAUTH2', client_id: 'c', client_secret: 'client-secret-1' };
const verifyToken = 'verify-token-1';
const encoded = {
  challenges: [
    {
      answer: { header: 'x-challenge' },
      hmac: { key: 'webhook_secret', encoding: 'base64' },
      json: { response_token: 'sha256=$hmac' },
    },
  ],
};

let stack: AsyncDisposableStack;
let api: Api;
let environment: string;

beforeAll(async () => {
  stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), 'svc-challenges-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const own = {
    display_name: 'Own',
    categories: ['other'],
    docs: 'https://own.example',
    auth_mode: 'OAUTH2',
    authorization_url: 'https://own.example/a',
    token_url: 'https://own.example/t',
    proxy: { base_url: 'https://own.example' },
  };
  const definitions = { encoded: { ...own, webhook_routing: encoded } };
  writeFileSync(join(folder, 'own.json'), JSON.stringify(definitions));
  api = stack.use(await startApi({ overlayPath: folder }));
  const integrations: [string, string, object][] = [
    ['facebook', 'facebook', { ...client, webhook_secret: verifyToken }],
    ['instagram', 'instagram', { ...client, webhook_secret: verifyToken }],
    ['whatsapp-business', 'whatsapp-business', { ...client, webhook_secret: verifyToken }],
    ['unset', 'facebook', client],
    ['dropbox', 'dropbox', client],
    ['linkedin', 'linkedin', client],
    ['strava', 'strava', { ...client, webhook_secret: verifyToken }],
    ['encoded', 'encoded', { ...client, webhook_secret: verifyToken }],
    ['slack', 'slack', client],
    ['box', 'box', client],
  ];
  for (const [unique_key, provider, credentials] of integrations) {
    const body = { unique_key, provider, credentials };
    expect(codeOf(await api.call('POST', '/integrations', { body }))).toBe('200 ');
  }
  const shown = await api.call('GET', '/integrations/facebook?include=webhook');
  environment = /webhook\/([^/]+)\//.exec(String(shown.at('data.webhook_url')))?.[1] ?? '';
});
afterAll(() => stack.disposeAsync());

async function challenged(
  key: string,
  query: Readonly<Record<string, string>>,
  headers: Readonly<Record<string, string>> = {},
) {
  const search = new URLSearchParams(query).toString();
  const url = `${api.url}/webhook/${environment}/${key}?${search}`;
  const answer = await checkedFetch(url, { headers });
  const text = await answer.text();
  const { status } = answer;
  const code = status === 200 ? '' : (JSON.parse(text) as { error: { code: string } }).error.code;
  return { status, code, text, headers: answer.headers };
}

const subscription = (challenge: string, token = verifyToken) => ({
  'hub.mode': 'subscribe',
  'hub.challenge': challenge,
  'hub.verify_token': token,
});

describe('a GET with which a provider verifies the address', () => {
  it.each(['facebook', 'instagram', 'whatsapp-business'])(
    'of %s is answered with its challenge',
    async (key) => {
      const { status, text, headers } = await challenged(key, subscription('1158201444'));
      expect([status, text]).toEqual([200, '1158201444']);
      expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    },
  );

  it('is never a page: what it repeats is text', async () => {
    const script = '<script>alert(document.domain)</script>';
    const { text, headers } = await challenged('dropbox', { challenge: script });
    expect(text).toBe(script);
    expect(headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain('sandbox');
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('of Strava is answered in JSON', async () => {
    const { text, headers } = await challenged('strava', subscription('15f7d1a91c"1f40f'));
    expect(JSON.parse(text)).toEqual({ 'hub.challenge': '15f7d1a91c"1f40f' });
    expect(headers.get('content-type')).toBe('application/json');
  });

  it('of LinkedIn is answered with its HMAC', async () => {
    const code = '890e4665-4dfe-4ab1-b689-ed553bceeed0';
    const { text } = await challenged('linkedin', { challengeCode: code });
    const expected = createHmac('sha256', client.client_secret).update(code).digest('hex');
    expect(JSON.parse(text)).toEqual({ challengeCode: code, challengeResponse: expected });
  });

  it('by a header is answered with its HMAC in base64', async () => {
    const { text } = await challenged('encoded', {}, { 'x-challenge': '$value $& $1' });
    const hmac = createHmac('sha256', verifyToken).update('$value $& $1').digest('base64');
    expect(JSON.parse(text)).toEqual({ response_token: `sha256=${hmac}` });
  });

  it.each([
    ['facebook', subscription('1', 'wrong'), '401 webhook_invalid_signature'],
    ['facebook', subscription('1', ''), '401 webhook_missing_token'],
    ['facebook', subscription('1', `${verifyToken} `), '401 webhook_invalid_signature'],
    ['facebook', { 'hub.mode': 'subscribe', 'hub.challenge': '1' }, '401 webhook_missing_token'],
    ['facebook', { ...subscription('1'), 'hub.mode': 'other' }, '400 webhook_invalid_payload'],
    ['facebook', {}, '400 webhook_invalid_payload'],
    ['unset', subscription('1', ''), '401 webhook_missing_secret'],
    ['unset', subscription('1', 'null'), '401 webhook_missing_secret'],
    ['dropbox', { challenge: '' }, '400 webhook_invalid_payload'],
    ['slack', { challenge: '1' }, '405 method_not_allowed'],
    ['box', { challenge: '1' }, '405 method_not_allowed'],
    ['nobody', { challenge: '1' }, '404 unknown_provider_config'],
  ])('of %s with %j is refused with %s', async (key, query, expected) => {
    const refused = await challenged(key, query);
    expect(`${refused.status} ${refused.code}`).toBe(expected);
    if (refused.status === 405) expect(refused.headers.get('allow')).toBe('POST, OPTIONS');
  });

  it('is bounded', async () => {
    const challenge = 'x'.repeat(limits.webhookChallengeCharsMax);
    expect((await challenged('dropbox', { challenge })).text).toBe(challenge);
    const long = await challenged('dropbox', { challenge: `${challenge}x` });
    expect(long.code).toBe('webhook_invalid_payload');
  });

  it('leaves no delivery', async () => {
    const answer = await api.call('GET', '/webhook-deliveries');
    expect(answer.at('data')).toEqual([]);
  });
});
