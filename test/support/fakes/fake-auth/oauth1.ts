import { createHmac } from 'node:crypto';
import { demand, Refused, unauthorized, type Answer, type Incoming } from './exchange.ts';
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

  /** @returns the protocol parameters. @throws Refused */
  demandSigned(request: Incoming, tokenSecretOf: (token: string) => string | null) {
    const { params, realm } = parsedHeader(request.headers.authorization ?? '');
    const consumer = this.#consumer;
    const told = { status: 401, error: 'unauthorized' };
    demand(params['oauth_consumer_key'] === consumer.key, 'wrong_consumer', told);
    demand(
      params['oauth_signature_method'] === consumer.algorithm,
      'wrong_method_of_signature',
      told,
    );
    demand((params['oauth_version'] ?? '1.0') === '1.0', 'wrong_version', told);
    demand(realm === consumer.realm, 'wrong_realm', told);
    const token = params['oauth_token'];
    const tokenSecret = token === undefined ? '' : tokenSecretOf(token);
    demand(tokenSecret !== null, 'unknown_token', told);
    const { oauth_signature: signature, ...signed } = params;
    const expected = signatureOf(request, signed, consumer, tokenSecret);
    demand(signature === expected, 'wrong_signature', told);
    this.#demandFresh(params, told);
    return params;
  }

  #demandFresh(params: Readonly<Record<string, string>>, told: typeof unauthorized): void {
    const { oauth_timestamp: timestamp, oauth_nonce: nonce = '' } = params;
    const isNow = Math.abs(Date.now() / 1000 - Number(timestamp)) <= clockSkewS;
    demand(isNow, 'wrong_timestamp', told);
    const use = `${String(timestamp)} ${nonce}`;
    demand(nonce !== '' && !this.#nonces.has(use), 'reused_nonce', told);
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
  { method, url, headers, body }: Incoming,
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

/** Three-legged OAuth 1.0 (RFC 5849 section 2). */
export function oauth1Rules(stage: Stage): Rules {
  const { definition } = stage;
  const consumer: Consumer = {
    key: secret('consumer'),
    secret: secret('consumer-secret'),
    algorithm: definition.signature_method === 'PLAINTEXT' ? 'PLAINTEXT' : 'HMAC-SHA1',
  };
  const guard = new SignatureGuard(consumer);
  const requested = new Map<string, RequestToken>();
  const granted = new Map<string, string>();
  const grant = (): { oauth_token: string; oauth_token_secret: string } => {
    const oauth_token = secret('token');
    const oauth_token_secret = secret('token-secret');
    granted.set(oauth_token, oauth_token_secret);
    return { oauth_token, oauth_token_secret };
  };
  return {
    integration: { type: 'OAUTH1', client_id: consumer.key, client_secret: consumer.secret },
    form: null,
    importable: () => ({ type: 'OAUTH1', ...grant() }),
    answer(request) {
      if (request.role === 'request') return answerRequest(request);
      if (request.role === 'authorize') return authorize(request);
      if (request.role === 'token') return answerToken(request);
      throw new Refused(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit(request) {
      demandPlaced(stage, request);
      const params = guard.demandSigned(request, (token) => granted.get(token) ?? null);
      demand(params['oauth_token'] !== undefined, 'no_token', unauthorized);
    },
    endTokens: () => granted.clear(),
  };

  function answerRequest(request: Incoming): Answer {
    const params = guard.demandSigned(request, () => null);
    const callback = params['oauth_callback'] ?? '';
    demand(URL.canParse(callback), 'no_callback');
    const token = secret('request');
    requested.set(token, {
      secret: secret('request-secret'),
      callback,
      verifier: null,
      isUsed: false,
    });
    return form({
      oauth_token: token,
      oauth_token_secret: requested.get(token)?.secret ?? '',
      oauth_callback_confirmed: 'true',
    });
  }

  /** The person consents, and is sent back with a verifier. */
  function authorize({ url }: Incoming): Answer {
    const token = url.searchParams.get('oauth_token') ?? '';
    const known = requested.get(token);
    demand(known !== undefined, 'unknown_request_token');
    const back = new URL(known.callback);
    if (stage.refusal === null) {
      known.verifier = secret('verifier');
      back.searchParams.set('oauth_token', token);
      back.searchParams.set('oauth_verifier', known.verifier);
    } else back.searchParams.set('denied', token);
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  function answerToken(request: Incoming): Answer {
    const params = guard.demandSigned(request, (token) => requested.get(token)?.secret ?? null);
    const known = requested.get(params['oauth_token'] ?? '');
    demand(known !== undefined, 'no_request_token', unauthorized);
    demand(!known.isUsed, 'reused_request_token', unauthorized);
    const isVerified = known.verifier !== null && params['oauth_verifier'] === known.verifier;
    demand(isVerified, 'wrong_verifier', unauthorized);
    known.isUsed = true;
    const more = (definition.token_response_metadata ?? []).map((name) => [
      name,
      stage.known[`connectionConfig.${name}`] ?? '',
    ]);
    return form({ ...grant(), ...(Object.fromEntries(more) as object) });
  }
}

const form = (fields: Readonly<Record<string, string>>): Answer => ({
  status: 200,
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
});

/** Tokens that the person has from the provider; every call is signed for the realm of the account. */
export function tbaRules(stage: Stage): Rules {
  const account = stage.known['connectionConfig.accountId'] ?? '';
  const consumer: Consumer = {
    key: secret('consumer'),
    secret: secret('consumer-secret'),
    algorithm: 'HMAC-SHA256',
    realm: account.replaceAll('-', '_').toUpperCase(),
  };
  const guard = new SignatureGuard(consumer);
  const granted = new Map<string, string>();
  const grant = () => {
    const token_id = secret('token');
    const token_secret = secret('token-secret');
    granted.set(token_id, token_secret);
    return { token_id, token_secret };
  };
  return {
    integration: { type: 'TBA', client_id: consumer.key, client_secret: consumer.secret },
    form: grant(),
    importable: () => ({ type: 'TBA', ...grant() }),
    answer: ({ role }) => {
      throw new Refused(404, 'not_found', `no_such_endpoint: ${role}`);
    },
    admit(request) {
      demandPlaced(stage, request);
      const params = guard.demandSigned(request, (token) => granted.get(token) ?? null);
      demand(params['oauth_token'] !== undefined, 'no_token', unauthorized);
    },
    endTokens: () => granted.clear(),
  };
}
