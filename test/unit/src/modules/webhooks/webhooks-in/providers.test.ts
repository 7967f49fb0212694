import { readFileSync } from 'node:fs';
import { SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import {
  acme,
  address,
  cases,
  codeOf,
  judged,
  now,
  rsa,
  secret,
  sha256,
  standard,
} from '#test/support/judges/provider-webhooks.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

describe('a webhook of', () => {
  it.each(cases)('$provider is verified and attributed', async (one) => {
    const verdict = await judged(one);
    expect(verdict.connections).toEqual([acme]);
    expect(verdict.events.map(({ type }) => type)).toEqual(one.types);
    expect(verdict.providerDeliveryId).toBe(one.id ?? null);
    // Streak and Outlook are known by a token of the connection, or of the integration, in place of a signature.
    const isVerified = one.sign !== undefined || /^(streak|outlook)/.test(one.provider);
    expect(verdict.isVerified).toBe(isVerified);
    expect(verdict).toMatchObject({ answer: null, isForwarded: true, body: one.body });
  });

  const signing = cases.filter(({ sign }) => sign !== undefined);

  it.each(signing)('$provider is rejected with a signature of other bytes', async (one) => {
    const isToken = one.sign?.('a') !== undefined && 'x-gitlab-token' in one.sign('a');
    const more = isToken ? { headers: { 'x-gitlab-token': 'another' } } : { signed: '{}' };
    expect(await codeOf(judged(one, more))).toBe('webhook_invalid_signature');
  });

  it.each(signing)('$provider is rejected without a signature', async (one) => {
    const blank = Object.fromEntries(Object.keys(one.sign?.('') ?? {}).map((name) => [name, '']));
    expect(await codeOf(judged(one, { headers: blank }))).toMatch(
      /^webhook_missing_(signature|token)$/,
    );
  });

  it.each(
    signing.filter(
      ({ metadata, credentials }) => metadata === undefined && credentials === undefined,
    ),
  )(
    '$provider needs a secret of the integration, unless signing is up to the user',
    async (one) => {
      const without = { ...one, credentials: { webhookSecret: null } };
      expect(await codeOf(judged(without))).toBe(
        one.isOptional ? 'taken' : 'webhook_missing_secret',
      );
      if (one.isOptional) expect((await judged(without)).isVerified).toBe(false);
    },
  );
});

describe('a secret that decodes to nothing', () => {
  const rulesOf = (provider: string) => builtInCatalogue().find(provider)?.webhook_routing;
  const keyed = cases.flatMap((one) => {
    const rule = rulesOf(one.provider)?.signatures[0];
    if (one.sign === undefined || rule === undefined || rule.scheme === 'jwt') return [];
    const isBase64 = rule.key_encoding === 'base64' || ['rsa', 'ed25519'].includes(rule.scheme);
    const blanks = [' ', '\t\n', 'whsec_', ...(isBase64 ? ['=!='] : [])];
    return blanks.map((blank) => [one.provider, blank, one] as const);
  });
  /** The leaf that holds the secret. */
  const blanked = (value: JsonObject, blank: string): JsonObject =>
    Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [
        name,
        isJsonObject(inner) ? blanked(inner, blank) : blank,
      ]),
    );

  it.each(keyed)('counts as missing at %s: %j', async (_provider, blank, one) => {
    const { metadata, credentials } = one;
    // The key is made of several.
    if (credentials?.appId !== undefined) return;
    const without = {
      ...one,
      credentials: { ...credentials, webhookSecret: blank, clientSecret: blank },
      ...(metadata === undefined ? {} : { metadata: blanked(metadata, blank) }),
    };
    expect(await codeOf(judged(without))).toBe('webhook_missing_secret');
  });

  it.each(['whsec_', 'whsec_=!='])('lets nobody sign with the empty key: %s', async (blank) => {
    const one = cases.find(
      ({ provider, sign }) =>
        sign !== undefined && rulesOf(provider)?.signatures[0]?.scheme === 'standard-webhooks',
    )!;
    const forged = {
      ...one,
      sign: (body: string) => standard(body, Buffer.alloc(0)),
      metadata: { webhookSecret: blank },
    };
    expect(await codeOf(judged(forged))).toBe('webhook_missing_secret');
  });
});

describe('the id of a delivery', () => {
  it('is documented for those providers that have one in their rules, and for no other', () => {
    const page = readFileSync(
      new URL('../../../../../../docs/webhooks.md', import.meta.url),
      'utf8',
    );
    const [, dropped = '', never = ''] =
      /### Repeats([^]*)Repeats of other providers([^]*)/.exec(page) ?? [];
    const namesIn = (text: string): string[] =>
      [...text.matchAll(/^\| (`[^|]*)\|/gm)].flatMap(([, cell = '']) =>
        [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
      );
    const routed = builtInCatalogue()
      .all()
      .filter(({ webhook_routing }) => webhook_routing !== undefined);
    const namesOf = (hasId: boolean): string[] =>
      routed
        .filter(({ webhook_routing: rules }) => (rules?.delivery_id !== undefined) === hasId)
        .map(({ name }) => name)
        .sort();
    expect(namesIn(dropped).sort()).toEqual(namesOf(true));
    expect(namesIn(never).sort()).toEqual(namesOf(false));
  });
});

describe('the token of a notification of Gmail', () => {
  const one = cases.find(({ provider }) => provider === 'gmail')!;
  const tokenOf = (claims: { iss?: string; aud?: string; exp?: number }) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'RS256', kid: 'k1' })
      .setIssuer(claims.iss ?? 'https://accounts.google.com')
      .setAudience(claims.aud ?? address)
      .setExpirationTime(claims.exp ?? now + 60)
      .sign(rsa.privateKey);

  it.each([
    ['of Google for this address', {}, 'taken'],
    ['for this address with a slash at its end', { aud: `${address}/` }, 'taken'],
    ['of another issuer', { iss: 'https://evil.example' }, 'webhook_invalid_signature'],
    ['for another address', { aud: 'https://other.example' }, 'webhook_invalid_signature'],
    ['for a path below it', { aud: `${address}/a` }, 'webhook_invalid_signature'],
    ['that has expired', { exp: now - 1 }, 'webhook_invalid_signature'],
  ])('%s', async (_what, claims, expected) => {
    const headers = { authorization: `Bearer ${await tokenOf(claims)}` };
    expect(await codeOf(judged(one, { headers }))).toBe(expected);
  });

  it('that another key signed is rejected', async () => {
    const [head, claims] = (await tokenOf({})).split('.');
    const headers = { authorization: `Bearer ${head}.${claims}.${'A'.repeat(342)}` };
    expect(await codeOf(judged(one, { headers }))).toBe('webhook_invalid_signature');
  });
});

describe('a notification without a body', () => {
  const uri = 'https://www.googleapis.com/calendar/v3/calendars/ann%40acme.example/events?alt=json';

  it.each([
    ['metadata.googleCalendarWatchResourceUris', uri],
    ['emailAddressHash', sha256('ann@acme.example')],
    ['metadata.email', 'ann@acme.example'],
  ] as const)('is that of its headers, and found by %s', async (property, value) => {
    const said = { 'x-goog-resource-uri': uri, 'x-goog-resource-state': 'exists' };
    const headers = { ...said, host: 'gateway.example', cookie: 'c=1' };
    const one = {
      provider: 'google-calendar',
      body: {},
      headers,
      found: [property, value] as const,
    };
    const verdict = await judged({ ...one, types: [] }, { sent: '' });
    expect(verdict).toMatchObject({ connections: [acme], body: said });
    expect(verdict.events.map(({ type }) => type)).toEqual(['exists']);
    expect(Object.keys(verdict.body as object).sort()).toEqual(Object.keys(said).sort());
  });
});

describe('events that repeat the secret of the integration', () => {
  const one = cases.find(({ provider }) => provider === 'outlook-client-credentials')!;
  const event = { tenantId: 't1', changeType: 'created' };

  it('count, and those that do not are left out everywhere', async () => {
    const [good, bad] = [
      { ...event, clientState: secret },
      { ...event, clientState: 'other' },
    ];
    const verdict = await judged({ ...one, body: { value: [bad, good] } });
    expect(verdict).toMatchObject({ body: { value: [good] }, connections: [acme] });
    expect(verdict.events).toHaveLength(1);
    const rejected = judged({ ...one, body: { value: [bad, event] } });
    expect(await codeOf(rejected)).toBe('webhook_invalid_signature');
  });

  it('are announced with a text that is repeated', async () => {
    const verdict = await judged(
      { ...one, body: {}, search: 'validationToken=v%201' },
      { sent: '' },
    );
    expect(verdict).toMatchObject({ answer: { body: 'v 1' }, events: [], isForwarded: false });
  });
});

describe('a webhook of Streak', () => {
  const one = cases.find(({ provider }) => provider === 'streak')!;

  it('is rejected without the token of a connection', async () => {
    const none = judged(one, { headers: { 'x-streak-webhook-token': '' } });
    expect(await codeOf(none)).toBe('webhook_missing_token');
    const other = judged(one, { headers: { 'x-streak-webhook-token': 'another' } });
    expect(await codeOf(other)).toBe('webhook_invalid_signature');
  });
});

describe('what providers ask before they send', () => {
  const of = (provider: string) => cases.find((one) => one.provider === provider)!;

  it('is answered to Slack with the challenge, and starts and forwards nothing', async () => {
    const body = { type: 'url_verification', challenge: 'c-1' };
    const verdict = await judged({ ...of('slack'), body });
    expect(verdict).toMatchObject({ answer: { body: 'c-1' }, events: [], isForwarded: false });
  });

  it('is answered to Slack with an empty body where it shows an error otherwise', async () => {
    const body = { type: 'view_submission', team: { id: 'T1' } };
    const verdict = await judged({ ...of('slack'), body });
    expect(verdict).toMatchObject({
      answer: { body: '', contentType: null },
      isForwarded: true,
      connections: [acme],
    });
  });

  it('reaches the application from Notion, which signs it with nothing yet', async () => {
    const body = { verification_token: 'v-1', workspace_id: 'w1', type: 'page.created' };
    const verdict = await judged(
      { ...of('notion'), body },
      { headers: { 'x-notion-signature': '' } },
    );
    expect(verdict).toMatchObject({ isForwarded: true, connections: [], events: [], body });
  });

  it('is answered to Xero by the status alone', async () => {
    const verdict = await judged({ ...of('xero'), body: { events: [] } });
    expect(verdict).toMatchObject({ isForwarded: false, events: [] });
    const wrong = judged({ ...of('xero'), body: { events: [] } }, { signed: 'other' });
    expect(await codeOf(wrong)).toBe('webhook_invalid_signature');
  });
});

describe('a webhook that is late', () => {
  it.each(['slack', 'stripe', 'calendly', 'granola'])('is rejected from %s', async (provider) => {
    const one = cases.find((of) => of.provider === provider)!;
    const late = JSON.parse(
      JSON.stringify(one.sign?.(JSON.stringify(one.body))).replaceAll(
        String(now),
        String(now - 301),
      ),
    ) as object;
    expect(await codeOf(judged(one, { headers: late }))).toBe('webhook_invalid_signature');
  });
});
