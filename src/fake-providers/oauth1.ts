import { createHmac } from 'node:crypto';
import { systemClock } from '#kernel/time.ts';
import { demand, Refusal, unauthorized, type Answer, type ReceivedRequest } from './exchange.ts';
import { demandPlaced, type Rules, type Stage } from './rules.ts';
import { secret } from './tokens.ts';

const clockSkewS = 300;

interface Consumer {
  readonly key: string;
  readonly secret: string;
  readonly algorithm: 'HMAC-SHA1' | 'HMAC-SHA256' | 'PLAINTEXT';
  readonly realm?: string;
}

/** Checks signatures, times and nonces (RFC 5849 section 3.2). */
class SignatureGuard {
  readonly #consumer: Consumer;
  readonly #nonces = new Set<string>();

  constructor(consumer: Consumer) {
    this.#consumer = consumer;
  }

  /** @returns the protocol parameters. @throws Refusal */
  demandSigned(request: ReceivedRequest, tokenSecretOf: (token: string) => string | null) {
    const { params, realm } = parsedHeader(request.headers.authorization ?? '');
    const consumer = this.#consumer;
    const refusedWith = { status: 401, error: 'unauthorized' };
    demand(params['oauth_consumer_key'] === consumer.key, 'wrong_consumer', refusedWith);
    demand(
      params['oauth_signature_method'] === consumer.algorithm,
      'wrong_method_of_signature',
      refusedWith,
    );
    demand((params['oauth_version'] ?? '1.0') === '1.0', 'wrong_version', refusedWith);
    demand(realm === consumer.realm, 'wrong_realm', refusedWith);
    const token = params['oauth_token'];
    const tokenSecret = token === undefined ? '' : tokenSecretOf(token);
    demand(tokenSecret !== null, 'unknown_token', refusedWith);
    const { oauth_signature: signature, ...signed } = params;
    const expected = signatureOf(request, signed, consumer, tokenSecret);
    demand(signature === expected, 'wrong_signature', refusedWith);
    this.#demandFresh(params, refusedWith);
    return params;
  }

  #demandFresh(params: Readonly<Record<string, string>>, refusedWith: typeof unauthorized): void {
    const { oauth_timestamp: timestamp, oauth_nonce: nonce = '' } = params;
    const isNow = Math.abs(systemClock.now() / 1000 - Number(timestamp)) <= clockSkewS;
    demand(isNow, 'wrong_timestamp', refusedWith);
    const use = `${String(timestamp)} ${nonce}`;
    demand(nonce !== '' && !this.#nonces.has(use), 'reused_nonce', refusedWith);
    this.#nonces.add(use);
  }
}

function parsedHeader(header: string) {
  demand(header.startsWith('OAuth '), 'unsigned', unauthorized);
  const pairs = [...header.slice(6).matchAll(/(\w+)="([^"]*)"/g)].map(
    ([, name = '', value = '']) => [name, decodeURIComponent(value)] as const,
  );
  const { realm, ...params } = Object.fromEntries(pairs) as Record<string, string>;
  return { params: params as Record<string, string>, realm };
}

const escaped = (text: string): string =>
  [...Buffer.from(text)]
    .map((byte) => {
      const mark = String.fromCharCode(byte);
      return /[A-Za-z0-9\-._~]/.test(mark)
        ? mark
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');

function signatureOf(
  { method, url, headers, body }: ReceivedRequest,
  protocol: Readonly<Record<string, string>>,
  consumer: Consumer,
  tokenSecret: string,
): string {
  const key = `${escaped(consumer.secret)}&${escaped(tokenSecret)}`;
  if (consumer.algorithm === 'PLAINTEXT') return key;
  const isForm = headers['content-type']?.startsWith('application/x-www-form-urlencoded') === true;
  const sent = [...url.searchParams, ...(isForm ? new URLSearchParams(body) : [])];
  const all = [...sent, ...Object.entries(protocol)]
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort();
  const base = [method, `${url.origin}${url.pathname}`, all.join('&')].map(escaped).join('&');
  const digest = consumer.algorithm === 'HMAC-SHA1' ? 'sha1' : 'sha256';
  return createHmac(digest, key).update(base).digest('base64');
}

interface RequestToken {
  readonly secret: string;
  readonly callback: string;
  verifier: string | null;
  isUsed: boolean;
}

/** Tokens with their secrets, and the signatures that use them. */
class SignedTokens {
  readonly consumer: Consumer;
  readonly guard: SignatureGuard;
  readonly secrets = new Map<string, string>();

  constructor(consumer: Consumer) {
    this.consumer = consumer;
    this.guard = new SignatureGuard(consumer);
  }

  issue(): { readonly token: string; readonly tokenSecret: string } {
    const token = secret('token');
    const tokenSecret = secret('token-secret');
    this.secrets.set(token, tokenSecret);
    return { token, tokenSecret };
  }

  /** Looks at a call of the API. @throws Refusal */
  admit(stage: Stage, request: ReceivedRequest): void {
    demandPlaced(stage, request);
    const secretOf = (token: string) => this.secrets.get(token) ?? null;
    const params = this.guard.demandSigned(request, secretOf);
    demand(params['oauth_token'] !== undefined, 'no_token', unauthorized);
  }
}

/** Three-legged OAuth 1.0 (RFC 5849 section 2). */
class ThreeLeggedServer {
  readonly tokens: SignedTokens;
  readonly #stage: Stage;
  readonly #requested = new Map<string, RequestToken>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.tokens = new SignedTokens({
      key: secret('consumer'),
      secret: secret('consumer-secret'),
      algorithm: stage.definition.signature_method === 'PLAINTEXT' ? 'PLAINTEXT' : 'HMAC-SHA1',
    });
  }

  issue(): { oauth_token: string; oauth_token_secret: string } {
    const { token, tokenSecret } = this.tokens.issue();
    return { oauth_token: token, oauth_token_secret: tokenSecret };
  }

  answer(request: ReceivedRequest): Answer {
    if (request.role === 'request') return this.#answerRequest(request);
    if (request.role === 'authorize') return this.#authorize(request);
    if (request.role === 'token') return this.#answerToken(request);
    throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
  }

  #answerRequest(request: ReceivedRequest): Answer {
    const params = this.tokens.guard.demandSigned(request, () => null);
    const callback = params['oauth_callback'] ?? '';
    demand(URL.canParse(callback), 'no_callback');
    const token = secret('request');
    const tokenSecret = secret('request-secret');
    this.#requested.set(token, { secret: tokenSecret, callback, verifier: null, isUsed: false });
    return form({
      oauth_token: token,
      oauth_token_secret: tokenSecret,
      oauth_callback_confirmed: 'true',
    });
  }

  /** The person consents, and is sent back with a verifier. */
  #authorize({ url }: ReceivedRequest): Answer {
    const token = url.searchParams.get('oauth_token') ?? '';
    const known = this.#requested.get(token);
    demand(known !== undefined, 'unknown_request_token');
    const back = new URL(known.callback);
    if (this.#stage.refusal === null) {
      known.verifier = secret('verifier');
      back.searchParams.set('oauth_token', token);
      back.searchParams.set('oauth_verifier', known.verifier);
    } else back.searchParams.set('denied', token);
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  #answerToken(request: ReceivedRequest): Answer {
    const secretOf = (token: string) => this.#requested.get(token)?.secret ?? null;
    const params = this.tokens.guard.demandSigned(request, secretOf);
    const known = this.#requested.get(params['oauth_token'] ?? '');
    demand(known !== undefined, 'no_request_token', unauthorized);
    demand(!known.isUsed, 'reused_request_token', unauthorized);
    const isVerified = known.verifier !== null && params['oauth_verifier'] === known.verifier;
    demand(isVerified, 'wrong_verifier', unauthorized);
    known.isUsed = true;
    const more = (this.#stage.definition.token_response_metadata ?? []).map((name) => [
      name,
      this.#stage.known[`connectionConfig.${name}`] ?? '',
    ]);
    return form({ ...this.issue(), ...(Object.fromEntries(more) as object) });
  }
}

export function oauth1Rules(stage: Stage): Rules {
  const server = new ThreeLeggedServer(stage);
  const { tokens } = server;
  const { key: client_id, secret: client_secret } = tokens.consumer;
  return {
    integration: { type: 'OAUTH1', client_id, client_secret },
    form: null,
    importable: () => ({ type: 'OAUTH1', ...server.issue() }),
    answer: (request) => server.answer(request),
    admit: (request) => tokens.admit(stage, request),
    endTokens: () => tokens.secrets.clear(),
  };
}

const form = (fields: Readonly<Record<string, string>>): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

/** Tokens that the person has from the provider; every call is signed for the realm of the account. */
export function tbaRules(stage: Stage): Rules {
  const account = stage.known['connectionConfig.accountId'] ?? '';
  const tokens = new SignedTokens({
    key: secret('consumer'),
    secret: secret('consumer-secret'),
    algorithm: 'HMAC-SHA256',
    realm: account.replaceAll('-', '_').toUpperCase(),
  });
  const issue = () => {
    const { token, tokenSecret } = tokens.issue();
    return { token_id: token, token_secret: tokenSecret };
  };
  const { key: client_id, secret: client_secret } = tokens.consumer;
  return {
    integration: { type: 'TBA', client_id, client_secret },
    form: issue(),
    importable: () => ({ type: 'TBA', ...issue() }),
    answer: ({ role }) => {
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${role}`);
    },
    admit: (request) => tokens.admit(stage, request),
    endTokens: () => tokens.secrets.clear(),
  };
}
