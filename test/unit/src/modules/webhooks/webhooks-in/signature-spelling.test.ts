import { describe, expect, it } from 'vitest';
import { acme, cases, codeOf, judged, rsa } from '#test/support/judges/provider-webhooks.ts';
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

describe('the public key of a provider', () => {
  const one = cases.find(({ provider }) => provider === 'highlevel')!;
  const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const bare = pem.split('\n').slice(1, -2).join('');

  it.each([
    ['on one line with spaces', pem.replaceAll('\n', ' ')],
    ['on one line', pem.replaceAll('\n', '')],
    ['with literal \\n', pem.replaceAll('\n', '\\n')],
    ['with CRLF', pem.replaceAll('\n', '\r\n')],
    ['in base64', bare],
    ['as PKCS 1', rsa.publicKey.export({ type: 'pkcs1', format: 'pem' }).toString()],
  ])('verifies %s', async (_, webhookSecret) => {
    const verdict = await judged({ ...one, credentials: { webhookSecret } });
    expect(verdict).toMatchObject({ isVerified: true, connections: [acme] });
  });

  it('that is none counts as missing', async () => {
    const without = { ...one, credentials: { webhookSecret: 'AAAA' } };
    expect(await codeOf(judged(without))).toBe('webhook_missing_secret');
  });
});
