import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { isJsonObject } from '#kernel/stable-json.ts';
import { dayMs, isToCome, minuteMs, secondMs, type Clock, type Instant } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { clientHeader } from '#modules/connections/credentials/modes/token-request.ts';
import { HttpFailure, type HttpClient, type HttpReply } from '#ports/http-client.ts';
import { openOauth, type OAuthClient } from '../../webhook-endpoints/authentication.ts';
import type { WebhookEndpoint } from '../../webhook-endpoints/webhook-endpoint.ts';
import { whenAborted } from './when-aborted.ts';

const timeoutMs = 10 * secondMs;
const answerBytesMax = 64 * 1024;
const tokenCharsMax = 16 * 1024;
/** Of a token whose response names none. */
const lifetimeMs = 5 * minuteMs;
const lifetimeMaxMs = dayMs;
/** How long before its end a token is replaced, or a tenth of a shorter lifetime. */
const leewayMs = minuteMs;
/** A failure is the result of all deliveries that want a token meanwhile. */
const failureKeptMs = 2 * secondMs;
const tokensMax = 10_000;

/** Codes of attempts (docs/reference/webhooks-out.md#oauth-20-client-credentials). */
type TokenFailureCode =
  | 'token_url_not_allowed'
  | 'token_endpoint_away'
  | 'token_refused'
  | 'token_unreadable';

/** Why the token endpoint issued no token. */
export class TokenFailure extends Error {
  override readonly name = 'TokenFailure';
  readonly code: TokenFailureCode;

  constructor(code: TokenFailureCode, options?: ErrorOptions) {
    super(code, options);
    this.code = code;
  }
}

interface Token {
  readonly text: string;
  readonly lifetimeMs: number;
}

/** A token of an endpoint, its request, or the failure of the request. */
interface HeldToken {
  /** The client that it was requested for. */
  readonly client: WebhookEndpoint['oauth'];
  readonly token: Promise<Token>;
  text: string | null;
  /** Null while it is requested. */
  usable: { readonly until: Instant; readonly longestMs: number } | null;
}

export interface EndpointTokensDeps {
  readonly vault: Vault;
  readonly http: HttpClient;
  readonly clock: Pick<Clock, 'now'>;
}

/** The tokens of endpoints with OAuth 2.0 client credentials, in the memory of this process: one request at a time for each. */
export class EndpointTokens {
  readonly #deps: EndpointTokensDeps;
  readonly #held = new LRUCache<string, HeldToken>({ max: tokensMax });

  constructor(deps: EndpointTokensDeps) {
    this.#deps = deps;
  }

  /** @throws TokenFailure; the signal's reason; GatewayError `not_found` when the key was destroyed */
  async tokenOf(endpoint: WebhookEndpoint, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted();
    const { token } = this.#usable(endpoint) ?? this.#request(endpoint);
    const { promise: aborted, reject } = Promise.withResolvers<never>();
    const stop = whenAborted(signal, () => reject(signal.reason as Error));
    try {
      return (await Promise.race([token, aborted])).text;
    } finally {
      stop();
    }
  }

  /** The endpoint answers 401 to the token: the next call requests another one. */
  refused(endpoint: WebhookEndpoint, text: string): void {
    const name = nameOf(endpoint);
    if (this.#held.peek(name)?.text === text) this.#held.delete(name);
  }

  #usable(endpoint: WebhookEndpoint): HeldToken | null {
    const held = this.#held.get(nameOf(endpoint));
    if (held === undefined || held.client !== endpoint.oauth) return null;
    const { usable } = held;
    const now = this.#deps.clock.now();
    return usable === null || isToCome(usable.until, now, usable.longestMs) ? held : null;
  }

  #request(endpoint: WebhookEndpoint): HeldToken {
    const token = this.#fetch(endpoint);
    const held: HeldToken = { client: endpoint.oauth, token, text: null, usable: null };
    this.#held.set(nameOf(endpoint), held);
    const keep = (longestMs: number): void => {
      held.usable = { until: this.#deps.clock.now() + longestMs, longestMs };
    };
    token.then(
      ({ text, lifetimeMs: forMs }) => {
        held.text = text;
        keep(forMs - Math.min(leewayMs, forMs / 10));
      },
      () => keep(failureKeptMs),
    );
    return held;
  }

  async #fetch(endpoint: WebhookEndpoint): Promise<Token> {
    const client = await openOauth(this.#deps.vault, endpoint);
    if (client === null) throw new TypeError('an endpoint without a client has no token');
    const reply = await this.#reply(client);
    const { status } = reply;
    if (status >= 500 || status === 429) throw new TokenFailure('token_endpoint_away');
    if (status < 200 || status >= 300) throw new TokenFailure('token_refused');
    const token = tokenIn(reply);
    if (token === null) throw new TokenFailure('token_unreadable');
    return token;
  }

  /** Follows no redirect: the request holds the secret of the client. */
  async #reply(client: OAuthClient): Promise<HttpReply> {
    const { clientId: id, clientSecret: secret, scopes, audience } = client;
    const isInHeader = client.clientAuthentication === 'basic';
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      ...(isInHeader ? {} : { client_id: id, client_secret: secret }),
      ...(scopes.length === 0 ? {} : { scope: scopes.join(' ') }),
      ...(audience === null ? {} : { audience }),
    });
    try {
      return await this.#deps.http.request({
        method: 'POST',
        url: new URL(client.tokenUrl),
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          'user-agent': 'svc',
          ...(isInHeader ? { authorization: clientHeader(id, secret) } : {}),
        },
        body: form.toString(),
        timeoutMs,
        maxBytes: answerBytesMax,
      });
    } catch (cause) {
      throw new TokenFailure(failureCodeOf(cause), { cause });
    }
  }
}

const nameOf = ({ environmentUid, id }: WebhookEndpoint): string => joinKey(environmentUid, id);

/** The response is too large, or none of HTTP. */
const unreadableCodes = new Set(['ERR_BODY_TOO_LARGE', 'ERR_BODY_CODING', 'ERR_INVALID_ANSWER']);

function failureCodeOf(error: unknown): TokenFailureCode {
  if (error instanceof HttpFailure && !unreadableCodes.has(error.code))
    return 'token_endpoint_away';
  const isRefused = error instanceof GatewayError && error.code === 'url_not_allowed';
  return isRefused ? 'token_url_not_allowed' : 'token_unreadable';
}

/** The bearer token of RFC 6749 section 5.1; null: the response has none. */
function tokenIn({ body }: HttpReply): Token | null {
  const value = jsonIn(body);
  if (!isJsonObject(value)) return null;
  const { access_token: text, token_type: type = 'bearer', expires_in: expiresIn } = value;
  const isBearer = typeof type === 'string' && type.toLowerCase() === 'bearer';
  const isText = typeof text === 'string' && /^[\x21-\x7e]+$/.test(text);
  if (!isBearer || !isText || text.length > tokenCharsMax) return null;
  const seconds = typeof expiresIn === 'string' ? Number.parseInt(expiresIn, 10) : expiresIn;
  const ms = typeof seconds === 'number' && seconds >= 0 ? seconds * secondMs : lifetimeMs;
  return { text, lifetimeMs: Math.min(ms, lifetimeMaxMs) };
}

function jsonIn(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
