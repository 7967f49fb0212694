import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { webhookRules, type WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { verifySignature } from '#modules/webhooks/webhooks-in/verify.ts';
import { acme, cases, ed25519, judged, now } from '#test/support/judges/provider-webhooks.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const ruleOf = (provider: string) =>
  builtInCatalogue().find(provider)?.webhook_routing?.signatures[0];
const spellings = {
  hex: (text: string) => text.replace(/[0-9a-f]{40,}$/, (digits) => digits.toUpperCase()),
  base64: (text: string) => text.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''),
};

describe('a signature in another spelling of the same bytes', () => {
  const signed = cases.filter(({ provider, sign }) => {
    const scheme = ruleOf(provider)?.scheme;
    return sign !== undefined && scheme !== undefined && !/^(token|jwt)$/.test(scheme);
  });

  it.each(signed)('of $provider is the signature', async (one) => {
    const rule = ruleOf(one.provider)!;
    const isBase64 = rule.encoding === 'base64' || /^(rsa|standard)/.test(rule.scheme);
    const spell = spellings[isBase64 ? 'base64' : 'hex'];
    const sign = (body: string) =>
      Object.fromEntries(
        Object.entries(one.sign!(body)).map(([name, value]) => [
          name,
          /signature|hmac|mac|hash/.test(name) && !/timestamp/.test(name) ? spell(value) : value,
        ]),
      );
    const verdict = await judged({ ...one, sign });
    expect(verdict).toMatchObject({ isVerified: true, connections: [acme] });
  });
});

/** @throws GatewayError where the key does not verify the signature */
function verifyBy(scheme: 'rsa' | 'ed25519', key: string, bytes: Buffer, signature: Buffer): void {
  const rules = webhookRules.parse({
    signatures: [{ scheme, header: 'x-signature' }],
  }) as WebhookRules;
  const headers = { 'x-signature': signature.toString('base64') };
  const request = { headers, search: '', bytes };
  verifySignature(rules.signatures[0]!, { request, facts: null, address: () => '' }, key, now);
}

const pemOf = ({ publicKey }: { readonly publicKey: KeyObject }): string =>
  publicKey.export({ type: 'spki', format: 'pem' }).toString();

describe.each(['rsa', 'ed25519'] as const)(
  'the public key of a provider that signs by %s',
  (scheme) => {
    const pair = { rsa: generateKeyPairSync('rsa', { modulusLength: 2048 }), ed25519 }[scheme];
    const pem = pemOf(pair);
    const bare = pem.split('\n').slice(1, -2).join('');
    const bytes = Buffer.from('{"type":"ContactCreate"}');
    const digest = scheme === 'rsa' ? 'RSA-SHA256' : null;
    const verify = (key: string): void => {
      verifyBy(scheme, key, bytes, sign(digest, bytes, pair.privateKey));
    };

    it.each([
      ['on one line with spaces', pem.replaceAll('\n', ' ')],
      ['on one line', pem.replaceAll('\n', '')],
      ['with literal \\n', pem.replaceAll('\n', '\\n')],
      ['with CRLF', pem.replaceAll('\n', '\r\n')],
      ['in base64', bare],
    ])('verifies %s', (_, key) => {
      expect(() => verify(key)).not.toThrow();
    });

    it.each([
      ['of another pair', pemOf(generateKeyPairSync('rsa', { modulusLength: 2048 })), 'rsa'],
      ['of another pair', pemOf(generateKeyPairSync('ed25519')), 'ed25519'],
    ])('verifies nothing where it is that %s: %#', (_, key, type) => {
      const code = type === scheme ? 'webhook_invalid_signature' : 'webhook_missing_secret';
      expect(() => verify(key)).toThrow(expect.objectContaining({ code }));
    });

    it('that is none counts as missing', () => {
      expect(() => verify('AAAA')).toThrow(
        expect.objectContaining({ code: 'webhook_missing_secret' }),
      );
    });
  },
);

describe('the public key of an RSA pair', () => {
  it('verifies as PKCS 1', () => {
    const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const bytes = Buffer.from('{}');
    const key = publicKey.export({ type: 'pkcs1', format: 'pem' }).toString();
    const signature = sign('RSA-SHA256', bytes, privateKey);
    expect(() => verifyBy('rsa', key, bytes, signature)).not.toThrow();
  });
});
