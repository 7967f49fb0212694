import { describe, expect, it } from 'vitest';
import {
  isWebhook,
  verifyHmac,
  verifyWebhook,
  type VerificationOptions,
  type Webhook,
} from '#client/index.ts';
import { formatWebhookSecret } from '#kernel/webhook-secret.ts';
import { signDelivery, verifyDelivery, type SigningKeys } from '#rules/signature.ts';

const at = Date.UTC(2026, 1, 1, 8);
const text = '{"connectionId":"acme","from":"svc","model":"Größe","success":true,"type":"sync"}';
const body = Buffer.from(text);
const keys: SigningKeys = { current: 'the current key', previous: null };
const signed = (given = keys): Record<string, string> => ({
  ...signDelivery(given, { id: 'msg-1', body, at }),
});
const options: VerificationOptions = { now: at + 60_000 };

describe('a webhook that the service has signed', () => {
  it('is verified, with any form of its body and headers', async () => {
    const verified = { id: 'msg-1', sentAt: new Date(at), payload: JSON.parse(text) as unknown };
    const upper = Object.fromEntries(
      Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), [value]]),
    );
    const copy = new Uint8Array(body);
    for (const request of [
      { body: text, headers: signed() },
      { body, headers: new Headers(signed()) },
      { body: copy.buffer, headers: upper },
    ]) {
      expect(await verifyWebhook(request, keys.current, options)).toEqual(verified);
    }
  });

  it('is verified with the previous key for a day after a rotation', async () => {
    const headers = signed({ current: 'new', previous: 'old' });
    for (const key of ['new', 'old'])
      expect(await verifyWebhook({ body, headers }, key, options)).toMatchObject({ id: 'msg-1' });
  });

  it.each(['6f1c0c6e-5d0b-4d0e-9d57-0a4b3d8c1f11', 'k', 'ключ', '\u0000\u0001'])(
    'is verified with the key as whsec_ and base64, and as text: %j',
    async (text) => {
      const shown = formatWebhookSecret(Buffer.from(text));
      for (const signingKey of [text, shown]) {
        const headers = signed({ current: signingKey, previous: null });
        for (const key of [text, shown, shown.replace(/=+$/, '')]) {
          const request = { body, headers };
          expect(await verifyWebhook(request, key, options)).toMatchObject({ id: 'msg-1' });
          expect(await verifyHmac(request, key)).toBe(true);
          expect(verifyDelivery(key, body, headers['x-svc-hmac-sha256'])).toBe(true);
        }
      }
    },
  );
});

const refusalOf = async (
  change: {
    readonly headers?: Record<string, string | string[] | undefined>;
    readonly body?: string;
    readonly key?: string;
  } & VerificationOptions,
): Promise<unknown> => {
  const request = { body: change.body ?? text, headers: { ...signed(), ...change.headers } };
  const verifying = verifyWebhook(request, change.key ?? keys.current, { ...options, ...change });
  return verifying.then(
    () => 'verified',
    (error: unknown) => (error as { code?: string }).code ?? error,
  );
};

describe('a webhook is refused', () => {
  it.each([
    ['with another body', { body: text.replace('acme', 'evil') }, 'wrong_signature'],
    ['with another id', { headers: { 'webhook-id': 'msg-2' } }, 'wrong_signature'],
    [
      'with another time',
      { headers: { 'webhook-timestamp': String(at / 1000 + 1) } },
      'wrong_signature',
    ],
    ['under another key', { key: 'other' }, 'wrong_signature'],
    ['under a blank key, with which anyone can sign', { key: ' ' }, 'missing_key'],
    ['under whsec_ alone, with which anyone can sign', { key: 'whsec_' }, 'invalid_key'],
    ['under whsec_ without base64', { key: 'whsec_=!=' }, 'invalid_key'],
    ['under another key of Standard Webhooks', { key: 'whsec_a2V5' }, 'wrong_signature'],
    ['six minutes later', { now: at + 360_001 }, 'wrong_time'],
    ['from the future', { now: at - 360_001 }, 'wrong_time'],
    ['with a time that is none', { headers: { 'webhook-timestamp': '0x10' } }, 'invalid_timestamp'],
    ['without a signature', { headers: { 'webhook-signature': undefined } }, 'missing_headers'],
    [
      'with two ids, of which one is not signed',
      { headers: { 'webhook-id': ['msg-1', 'msg-2'] } },
      'missing_headers',
    ],
    [
      'with the signature of another version',
      { headers: { 'webhook-signature': 'v2,AAAA' } },
      'wrong_signature',
    ],
    [
      'with a signature that is no base64',
      { headers: { 'webhook-signature': 'v1,=== v1,' } },
      'wrong_signature',
    ],
  ] satisfies [string, Parameters<typeof refusalOf>[0], string][])(
    '%s',
    async (_, change, code) => {
      expect(await refusalOf(change)).toBe(code);
    },
  );

  it('when its body is signed and no JSON', async () => {
    const broken = Buffer.from('{');
    const headers = { ...signDelivery(keys, { id: 'm', body: broken, at }) };
    await expect(
      verifyWebhook({ body: broken, headers }, keys.current, options),
    ).rejects.toMatchObject({ code: 'invalid_payload' });
  });
});

describe('X-Svc-Hmac-Sha256', () => {
  it('fits the body under the key alone', async () => {
    const headers = signed();
    expect(await verifyHmac({ body, headers }, keys.current)).toBe(true);
    expect(await verifyHmac({ body: `${text} `, headers }, keys.current)).toBe(false);
    expect(await verifyHmac({ body, headers }, 'other')).toBe(false);
    const short = { 'x-svc-hmac-sha256': headers['x-svc-hmac-sha256']?.slice(2) };
    expect(await verifyHmac({ body, headers: short }, keys.current)).toBe(false);
    await expect(verifyHmac({ body, headers }, '')).rejects.toMatchObject({ code: 'missing_key' });
    await expect(verifyHmac({ body, headers: {} }, 'k')).rejects.toMatchObject({
      code: 'missing_headers',
    });
  });
});

describe('the payload', () => {
  it('is a webhook of the service, or the body of a provider', () => {
    const sync = JSON.parse(text) as unknown;
    expect(isWebhook(sync) && (sync.type satisfies Webhook['type'])).toBe('sync');
    expect(isWebhook({ type: 'forward', from: 'crm', payload: null })).toBe(true);
    for (const other of [null, 'text', [], { type: 'sync' }, { type: 'new', from: 'svc' }])
      expect(isWebhook(other)).toBe(false);
  });
});
