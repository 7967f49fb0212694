import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { SignatureRule, WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { judge } from '#modules/webhooks/webhooks-in/process.ts';
import { webhookVectors, type EntryVector } from '#test/catalogue/webhook-vectors.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';
import {
  openVectorWorld,
  type Secrets,
  type Sending,
  type VectorWorld,
} from '#test/support/worlds/webhook-vector-world.ts';

const all = webhookVectors();
const rulesOf = ({ entry }: EntryVector): WebhookRules => {
  const rules = builtInCatalogue().find(entry)?.webhook_routing;
  if (rules === undefined) throw new Error(`${entry} has no rules`);
  return rules;
};
/** Which rule of its signatures the vector has. */
const ruleOf = (one: EntryVector): SignatureRule | null => {
  const { headers, query = '' } = one.vector.request;
  const { signatures } = rulesOf(one);
  const has = (rule: SignatureRule): boolean =>
    rule.query === undefined
      ? headers[headerOf(rule) ?? ''] !== undefined
      : new URLSearchParams(query).has(rule.query);
  return signatures.find(has) ?? signatures[0] ?? null;
};
const headerOf = (rule: SignatureRule): string | undefined =>
  rule.scheme === 'standard-webhooks'
    ? (rule.header ?? 'webhook-signature')
    : rule.scheme === 'basic'
      ? 'authorization'
      : rule.header;

const nameOf = (one: EntryVector): string =>
  `${one.entry} (${one.vector.origin}, ${all.filter(({ entry }) => entry === one.entry).indexOf(one) + 1})`;
const rows = (list: readonly EntryVector[]) => list.map((one) => [nameOf(one), one] as const);

// A signature of the address itself is of another address than that of a test.
const routed = all.filter(({ vector }) => vector.url === undefined);
const addressed = all.filter(({ vector }) => vector.url !== undefined);
const signed = all.filter((one) => ruleOf(one) !== null && ruleOf(one)!.scheme !== 'jwt');
const signsBody = (one: EntryVector): boolean => {
  const rule = ruleOf(one)!;
  if (rule.scheme === 'standard-webhooks') return true;
  if (rule.scheme === 'token' || rule.scheme === 'basic') return false;
  return /\$body(?!\()|\$form/.test(rule.message);
};
const signsTime = (one: EntryVector): boolean =>
  ruleOf(one)!.timestamp !== undefined || ruleOf(one)!.scheme === 'standard-webhooks';

const worlds = new Map<number, VectorWorld>();
const staleS = 2 * 86_400;
const stack = new AsyncDisposableStack();

beforeAll(async () => {
  const sent = all.filter((one) => routed.includes(one) || one.vector.handshakes !== undefined);
  for (const time of new Set(sent.map(({ vector }) => vector.time))) {
    const atTime = sent.filter(({ vector }) => vector.time === time);
    worlds.set(time, stack.use(await openVectorWorld(atTime, time)));
    if (!atTime.some((one) => signed.includes(one) && signsTime(one))) continue;
    worlds.set(time + staleS, stack.use(await openVectorWorld(atTime, time + staleS)));
  }
}, 120_000);
afterAll(() => stack.disposeAsync());

/** The answer to the vector, changed or not: that of the gateway, or, of an address that is signed, that of the judge. */
async function answerTo(
  one: EntryVector,
  changes: { readonly secrets?: Secrets; readonly sending?: Sending; readonly lateS?: number } = {},
): Promise<string> {
  const { secrets = 'own', sending = {}, lateS = 0 } = changes;
  const { headers, query, body } = one.vector.request;
  const whole = { headers, query, body, ...sending };
  if (one.vector.url !== undefined) return judgedCode(one, secrets, whole);
  const { status, code } = await worlds.get(one.vector.time + lateS)!.send(one, secrets, whole);
  return `${status} ${code}`;
}

/** The rules of a vector whose address is signed, without the route. */
async function judgedCode(one: EntryVector, secrets: Secrets, sending: Sending): Promise<string> {
  try {
    await judged(one, secrets, sending);
    return '200 ';
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return `${error.status} ${error.code}`;
  }
}

const withoutConnection = ({ connection: _, ...rules }: WebhookRules): WebhookRules => ({
  ...rules,
  is_for_all: true,
});

const acme = { uid: 'u1', connectionId: 'acme' } as Connection;

function judged(one: EntryVector, secrets: Secrets, { headers = {}, query = '', body }: Sending) {
  const { vector } = one;
  const secretOf = (secret = 'unused') =>
    secrets === 'own' ? secret : secrets === 'blank' ? ' ' : 'another-secret';
  const { client_secret, webhook_secret } = vector.integration ?? {};
  return judge(
    { headers, search: query, bytes: Buffer.from(body ?? '') },
    {
      // A published vector whose address is signed names no connection of ours.
      rules: vector.expected.is_attributed ? rulesOf(one) : withoutConnection(rulesOf(one)),
      now: vector.time,
      credentials: {
        type: 'OAUTH2',
        clientSecret: secretOf(client_secret),
        webhookSecret: webhook_secret === undefined ? null : secretOf(webhook_secret),
      },
      connections: () => Promise.resolve([acme]),
      allConnections: () => [acme],
      metadata: () => {
        const secret = vector.connection?.metadata?.['webhookSecret'];
        return Promise.resolve({ webhookSecret: secretOf(secret as string | undefined) });
      },
      address: () => vector.url ?? '',
      publicKeys: () => Promise.reject(new Error('no keys')),
    },
  );
}

/** Another letter or digit, so that the value stays one of its form. */
const changedAt = (text: string, at: number): string =>
  `${text.slice(0, at)}${text[at] === '5' ? '6' : '5'}${text.slice(at + 1)}`;

/** The vector with its signature changed (`with`) or left out (null). */
function withSignature(one: EntryVector, change: ((value: string) => string) | null): Sending {
  const rule = ruleOf(one)!;
  const { headers, query = '', body } = one.vector.request;
  if (rule.body !== undefined) {
    const name = rule.body.split('.').at(-1);
    const parsed: unknown = JSON.parse(body, (key, value: unknown) => {
      if (key !== name || typeof value !== 'string') return value;
      return change === null ? undefined : change(value);
    });
    return { body: JSON.stringify(parsed) };
  }
  if (rule.query !== undefined) {
    const search = new URLSearchParams(query);
    if (change === null) search.delete(rule.query);
    else search.set(rule.query, change(search.get(rule.query)!));
    return { query: search.toString() };
  }
  const name = headerOf(rule)!;
  const { [name]: value = '', ...others } = headers;
  return { headers: change === null ? others : { ...others, [name]: change(value) } };
}

/** A place in the signature that no encoding ignores. */
const inside = (value: string): number => {
  const at = Math.floor(value.length * 0.75);
  return value.slice(0, at).length + value.slice(at).search(/[A-Za-z0-9]/);
};

describe('a genuine webhook', () => {
  it.each(rows(routed))('of %s is taken, attributed and read', async (_name, one) => {
    const { expected, time } = one.vector;
    expect(await answerTo(one)).toBe('200 ');
    const [found] = await worlds.get(time)!.listed(one, 'own');
    expect(found).toMatchObject({
      disposition: !expected.is_attributed && rulesOf(one).connection ? 'unmatched' : 'accepted',
      connection_ids: expected.is_attributed ? ['acme'] : [],
      type: expected.types[0],
    });
    const { verdict } = await judged(one, 'own', one.vector.request).catch(() => ({
      verdict: null,
    }));
    if (verdict !== null) {
      expect(verdict.events.map(({ type }) => type)).toEqual(expected.types);
      expect(verdict.providerDeliveryId).toBe(expected.delivery_id);
    }
  });

  it.each(rows(addressed))('of %s is taken and read', async (_name, one) => {
    const { verdict } = await judged(one, 'own', one.vector.request);
    expect(verdict).toMatchObject({
      isVerified: true,
      providerDeliveryId: one.vector.expected.delivery_id,
    });
    expect(verdict.events.map(({ type }) => type)).toEqual(one.vector.expected.types);
  });

  it.each(rows(routed.filter(({ vector }) => vector.expected.delivery_id !== null)))(
    'of %s is taken once when it is sent again',
    async (_name, one) => {
      await answerTo(one);
      expect(await answerTo(one)).toBe('200 ');
      const [found] = await worlds.get(one.vector.time)!.listed(one, 'own');
      expect(found?.disposition).toBe('duplicate');
    },
  );
});

describe('a webhook', () => {
  it.each(rows(signed))('of %s is refused with another signature', async (_name, one) => {
    const sending = withSignature(one, (value) => changedAt(value, inside(value)));
    expect(await answerTo(one, { sending })).toBe('401 webhook_invalid_signature');
  });

  it.each(rows(signed))('of %s is refused without a signature', async (_name, one) => {
    const answer = await answerTo(one, { sending: withSignature(one, null) });
    expect(answer).toMatch(/^401 webhook_missing_(?:signature|token)$/);
  });

  it.each(rows(signed.filter(signsBody)))(
    'of %s is refused with a byte changed or added',
    async (_name, one) => {
      const { body } = one.vector.request;
      const at = body.search(/[A-Za-z0-9](?=[^A-Za-z0-9]*$)/);
      const sending = { body: changedAt(body, at) };
      expect(await answerTo(one, { sending })).toMatch(/^40[014] \w+$/);
      const longer = {
        body: rulesOf(one).signatures[0]?.message.includes('$form') ? `${body}&a=b` : `${body} `,
      };
      expect(await answerTo(one, { sending: longer })).toBe('401 webhook_invalid_signature');
    },
  );

  it.each(rows(signed.filter((one) => signsTime(one) && one.vector.url === undefined)))(
    'of %s is refused when it is late',
    async (_name, one) => {
      expect(await answerTo(one, { lateS: staleS })).toBe('401 webhook_invalid_signature');
    },
  );

  it.each(rows(signed))('of %s is refused where another secret is set', async (_name, one) => {
    expect(await answerTo(one, { secrets: 'other' })).toBe('401 webhook_invalid_signature');
  });

  it.each(rows(signed))('of %s is refused where the secret is empty', async (_name, one) => {
    expect(await answerTo(one, { secrets: 'blank' })).toBe('401 webhook_missing_secret');
  });

  const named = routed.filter(
    (one) =>
      signed.includes(one) &&
      one.vector.request.query?.includes('svcConnectionId=acme') === true &&
      one.vector.connection?.metadata?.['webhookSecret'] !== undefined,
  );
  it.each(rows(named))('of %s is refused at another connection', async (_name, one) => {
    const query = one.vector.request.query!.replace('=acme', '=beta');
    expect(await answerTo(one, { sending: { query } })).toBe('401 webhook_invalid_signature');
  });

  const tokens = routed.filter((one) => rulesOf(one).connection?.[0]?.is_token === true);
  it.each(rows(tokens))(
    'of %s is refused without the token of a connection',
    async (_name, one) => {
      const { headers, query = '' } = one.vector.request;
      const wrong = (text: string) => text.replace('token-of-acme', 'token-of-nobody');
      const others = Object.entries(headers).map(([name, value]) => [name, wrong(value)] as const);
      const sending = { query: wrong(query), headers: Object.fromEntries(others) };
      expect(await answerTo(one, { sending })).toBe('401 webhook_invalid_signature');
      const bare = others.filter(([, value]) => value !== 'token-of-nobody');
      const without = { query: '', headers: Object.fromEntries(bare) };
      expect(await answerTo(one, { sending: without })).toBe('401 webhook_missing_token');
    },
  );
});

describe('what a provider asks before it sends', () => {
  const asked = all.flatMap((one) =>
    (one.vector.handshakes ?? []).map(
      (handshake) => [`${nameOf(one)} by ${handshake.method}`, one, handshake] as const,
    ),
  );
  it.each(asked)('%s is answered', async (_name, one, { answer, headers = {}, ...sending }) => {
    const world = worlds.get(one.vector.time)!;
    const received = await world.send(one, 'own', { ...sending, headers });
    expect(received.status).toBe(answer.status);
    if (answer.body !== undefined) expect(received.text).toBe(answer.body);
    for (const [name, value] of Object.entries(answer.headers ?? {})) {
      expect(received.headers.get(name)).toBe(value);
    }
    if (sending.method === 'POST') {
      const [found] = await world.listed(one, 'own');
      expect(found?.disposition).not.toBe('rejected');
    }
  });
});

describe('a secret that connections alone hold', () => {
  it('is never passed by: the rules demand a connection', () => {
    const isOpen = ({ webhook_routing: rules }: { webhook_routing?: WebhookRules }): boolean =>
      rules !== undefined &&
      rules.signatures.length > 0 &&
      rules.signatures.every(
        ({ keys }) => keys.length > 0 && keys.every((key) => typeof key === 'object'),
      ) &&
      rules.connection?.some((rule) => rule.is_required) !== true;
    const open = builtInCatalogue().all().filter(isOpen);
    expect(open.map(({ name }) => name)).toEqual([]);
  });
});

describe('the vectors', () => {
  it('are there for every entry with rules', () => {
    const withRules = builtInCatalogue()
      .all()
      .flatMap(({ name, webhook_routing }) => (webhook_routing === undefined ? [] : [name]));
    // Rules without any fact of the request to judge.
    const without = new Set(['affinity', 'unauthenticated', 'github-app', 'github-app-oauth']);
    const covered = new Set(all.map(({ entry }) => entry));
    expect(withRules.filter((name) => !covered.has(name) && !without.has(name))).toEqual([]);
    expect([...covered].filter((name) => !withRules.includes(name))).toEqual([]);
  });
});
