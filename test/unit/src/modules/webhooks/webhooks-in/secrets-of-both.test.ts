import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { webhookRules, type WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { judge } from '#modules/webhooks/webhooks-in/process.ts';

const acme = { uid: 'u1', connectionId: 'acme' } as Connection;
const now = 1_790_000_000;

interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly search?: string;
  readonly body?: string;
}

/** The verdict by the rules, on a webhook of an integration with one connection. */
async function judged(
  rules: object,
  { headers, search = 'svcConnectionId=acme', body = '{}' }: Sent,
  secrets: { readonly ofIntegration?: string; readonly metadata?: JsonObject } = {},
) {
  const { verdict } = await judge(
    {
      headers: { 'content-type': 'application/json', ...headers },
      search,
      bytes: Buffer.from(body),
    },
    {
      rules: webhookRules.parse(rules) as WebhookRules,
      now,
      credentials: { type: 'OAUTH2', webhookSecret: secrets.ofIntegration ?? null },
      connections: (_property, value) => Promise.resolve(value === 'acme' ? [acme] : []),
      allConnections: () => [],
      metadata: () => Promise.resolve(secrets.metadata ?? {}),
      address: () => 'https://gateway.example/webhook/e/k',
      publicKeys: () => Promise.reject(new Error('no keys')),
    },
  );
  return verdict;
}

const codeOf = (judging: Promise<unknown>): Promise<string> =>
  judging.then(
    () => 'taken',
    (error: unknown) => (error instanceof GatewayError ? error.code : String(error)),
  );
const signed = (secret: string, body = '{}') => ({
  'x-signature': createHmac('sha256', secret).update(body).digest('hex'),
});
const connection = { property: 'connectionId', identifier: [{ query: 'svcConnectionId' }] };

describe('a rule with a secret of the connection and of the integration', () => {
  const keys = [{ metadata: ['webhookSecret'] }, 'webhook_secret'];
  const rules = { signatures: [{ scheme: 'hmac', header: 'x-signature', keys }], connection };
  const both = { ofIntegration: 'of-integration', metadata: { webhookSecret: 'of-acme' } };

  it.each([
    ['of the connection', 'of-acme', both, 'taken'],
    [
      'of the integration, though the connection has one',
      'of-integration',
      both,
      'webhook_invalid_signature',
    ],
    [
      'of the integration, where the connection has none',
      'of-integration',
      { ofIntegration: 'of-integration' },
      'taken',
    ],
    ['of the integration, where none is set', 'of-integration', {}, 'webhook_missing_secret'],
  ] as const)('takes that %s: %s', async (_what, secret, secrets, expected) => {
    expect(await codeOf(judged(rules, { headers: signed(secret) }, secrets))).toBe(expected);
  });

  it('needs that of the integration for a request of no connection', async () => {
    const nobody = (secret: string) => ({ headers: signed(secret), search: 'svcConnectionId=no' });
    const verdict = await judged(rules, nobody('of-integration'), both);
    expect(verdict).toMatchObject({ isVerified: true, connections: [] });
    expect(await codeOf(judged(rules, nobody('of-acme'), both))).toBe('webhook_invalid_signature');
    const none = { metadata: both.metadata };
    expect(await codeOf(judged(rules, nobody('of-acme'), none))).toBe('webhook_missing_secret');
    const bare = judged(rules, { headers: {}, search: 'svcConnectionId=no' }, both);
    expect(await codeOf(bare)).toBe('webhook_missing_signature');
  });
});

describe('a public key of Ed25519', () => {
  const pair = generateKeyPairSync('ed25519');
  const bytes = Buffer.from(pair.publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const signature = sign(null, Buffer.from(`${now}{}`), pair.privateKey);
  const rules = {
    signatures: [
      {
        scheme: 'ed25519',
        header: 'x-signature',
        message: '$timestamp$body',
        timestamp: { header: 'x-time' },
        keys: ['webhook_secret'],
      },
    ],
  };

  it.each([
    ['hex', 'hex'],
    ['base64', 'hex'],
    ['hex', 'base64'],
  ] as const)('in %s verifies a signature in %s', async (ofKey, ofSignature) => {
    const headers = { 'x-signature': signature.toString(ofSignature), 'x-time': String(now) };
    const verdict = await judged(rules, { headers }, { ofIntegration: bytes.toString(ofKey) });
    expect(verdict.isVerified).toBe(true);
  });
});

describe('a handshake that is answered in a header', () => {
  const rules = {
    unsigned: [{ header: 'x-hook-secret' }],
    handshakes: [
      {
        when: { header: 'x-hook-secret' },
        answer: { header: 'x-hook-secret' },
        header: 'x-answer',
      },
    ],
  };

  it('repeats the value there, and neither forwards nor starts anything', async () => {
    const verdict = await judged(rules, { headers: { 'x-hook-secret': 's-1' } });
    const answer = { contentType: null, body: '', header: ['x-answer', 's-1'] };
    expect(verdict).toMatchObject({ answer, isForwarded: false, events: [] });
  });

  it.each(['a b', 'é', 'a\r\nx: 1'])('is refused with %j', async (value) => {
    const judging = judged(rules, { headers: { 'x-hook-secret': value } });
    expect(await codeOf(judging)).toBe('webhook_invalid_payload');
  });
});
