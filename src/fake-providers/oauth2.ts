import { createHash } from 'node:crypto';
import { plainText } from '#kernel/json-path.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import {
  clientOf,
  demand,
  invalidClient,
  invalidGrant,
  paramsOf,
  Refusal,
  type Answer,
  type ReceivedRequest,
} from './exchange.ts';
import { fill } from './fill.ts';
import {
  demandScopes,
  scopesOf,
  demandHeaders,
  demandParams,
  demandToken,
  type Rules,
  type Stage,
} from './rules.ts';
import { secret, TokenStore, type IssuedTokens } from './tokens.ts';
import { withPath } from './with-path.ts';

interface Code {
  readonly redirectUri: string;
  readonly challenge: string | null;
  readonly family: string;
  isUsed: boolean;
}

/** Authorization code with PKCE and refresh tokens (RFC 6749, RFC 7636, RFC 9700), as the definition has them. */
export class Oauth2Server {
  readonly clientId = secret('client');
  /** With marks that have to be encoded wherever it goes. */
  readonly clientSecret = `${secret('client-secret')}+/=%:&é`;
  readonly tokens: TokenStore;
  readonly #stage: Stage;
  readonly #codes = new Map<string, Code>();

  readonly #isClientInHeader: boolean;

  constructor(stage: Stage, options: { readonly isClientInHeader?: boolean } = {}) {
    this.#stage = stage;
    const { authorization_method: method, token_request_auth_method: proof } = stage.definition;
    this.#isClientInHeader = options.isClientInHeader ?? (method === 'header' || proof === 'basic');
    this.tokens = new TokenStore(stage);
    stage.known['clientId'] = this.clientId;
    stage.known['clientSecret'] = this.clientSecret;
  }

  /** The person is asked, and sent back at once. */
  authorize({ method, url }: ReceivedRequest, more: Readonly<Record<string, string>> = {}): Answer {
    const { definition, known, refusal } = this.#stage;
    const sent = Object.fromEntries(url.searchParams);
    demand(method === 'GET', 'wrong_method');
    demand(sent['client_id'] === this.clientId, 'wrong_client');
    demand(sent['response_type'] === 'code', 'wrong_response_type');
    const redirectUri = sent['redirect_uri'] ?? '';
    demand(URL.canParse(redirectUri), 'no_redirect_uri');
    demand((sent['state'] ?? '') !== '', 'no_state');
    demandParams(definition.authorization_params, sent, known);
    const challenge = this.#challengeOf(sent);
    const back = new URL(redirectUri);
    back.searchParams.set('state', sent['state'] ?? '');
    const { authorization_issuer: issuer } = definition;
    if (issuer !== undefined) back.searchParams.set('iss', fill(issuer, known));
    if (refusal !== null) {
      back.searchParams.set('error', refusal);
      return { status: 302, headers: { location: back.href }, body: '' };
    }
    const code = secret('code');
    this.#codes.set(code, { redirectUri, challenge, family: secret('family'), isUsed: false });
    back.searchParams.set(definition.authorization_code_param_in_callback ?? 'code', code);
    for (const name of definition.redirect_uri_metadata ?? []) {
      back.searchParams.set(name, known[`connectionConfig.${name}`] ?? '');
    }
    for (const [name, value] of Object.entries(more)) back.searchParams.set(name, value);
    return { status: 302, headers: { location: back.href }, body: '' };
  }

  #challengeOf(sent: Readonly<Record<string, string>>): string | null {
    const challenge = sent['code_challenge'];
    if (this.#stage.definition.disable_pkce === true) {
      demand(challenge === undefined, 'unexpected_pkce_challenge');
      return null;
    }
    demand(sent['code_challenge_method'] === 'S256', 'wrong_pkce_method');
    demand(/^[\w-]{43}$/.test(challenge ?? ''), 'no_pkce_challenge');
    return challenge ?? '';
  }

  /** The token endpoint: both grants. */
  token(request: ReceivedRequest): Answer {
    const { definition, known } = this.#stage;
    demand(request.method === (definition.token_request_method ?? 'POST'), 'wrong_method');
    const format = request.method === 'GET' ? 'query' : (definition.body_format ?? 'form');
    const sent = paramsOf(request, format);
    const isRefresh = sent['grant_type'] === 'refresh_token';
    const refreshHeaders = definition.refresh_token_headers ?? definition.token_headers;
    const headers = isRefresh ? refreshHeaders : definition.token_headers;
    // A definition that places the client in a header states the text of that header.
    if (headers?.['authorization'] === undefined) this.#demandClient(request, sent);
    else demand(sent['client_secret'] === undefined, 'two_client_proofs');
    demandHeaders(headers, request, known);
    if (isRefresh) {
      const { refresh_params: stated } = definition;
      demandParams(stated, sent, known, ['grant_type']);
      return { status: 200, body: this.#answer(this.tokens.renew(sent['refresh_token'])) };
    }
    demandParams({ grant_type: 'authorization_code', ...definition.token_params }, sent, known);
    return { status: 200, body: this.#answer(this.#redeem(sent)) };
  }

  /** A call that presents a live access token: it is exchanged, or refreshed by itself. */
  byAccessToken(request: ReceivedRequest): Answer {
    const { definition, known } = this.#stage;
    const { token_exchange: exchange, access_token_refresh: refresh } = definition;
    const call = request.role === 'exchange' ? exchange : refresh;
    demand(call !== undefined, `no_such_endpoint: ${request.role}`);
    demand(request.method === call.method, 'wrong_method');
    const format = request.method === 'GET' ? 'query' : (definition.body_format ?? 'form');
    const sent = paramsOf(request, format);
    const [placed] =
      Object.entries(call.params).find(([, value]) => value === '${accessToken}') ?? [];
    const accessToken = plainText(sent[placed ?? ''] ?? '');
    demand(this.tokens.live().includes(accessToken), 'unknown_token', invalidGrant);
    demandHeaders(call.headers, request, { ...known, accessToken });
    demandParams(call.params, sent, { ...known, accessToken });
    return { status: 200, body: this.#answer(this.tokens.issue()) };
  }

  /** RFC 7009, as the definition has it: the token ends with everything that was issued with it. */
  revoke(request: ReceivedRequest): Answer {
    const { revocation } = this.#stage.definition;
    demand(revocation !== undefined, 'no_such_endpoint: revoke');
    demand(request.method === (revocation.method ?? 'POST'), 'wrong_method');
    const format = request.method === 'POST' ? (revocation.body_format ?? 'form') : 'query';
    const sent = paramsOf(request, format);
    const method = revocation.auth_method ?? (this.#isClientInHeader ? 'basic' : 'body');
    const [, bearer] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (method === 'basic' || method === 'body') {
      this.#demandClient(request, sent, method === 'basic');
    } else {
      demand(
        (bearer !== undefined) === (method === 'bearer'),
        'wrong_authentication',
        invalidClient,
      );
    }
    const params = revocation.params ?? { token: '${token}' };
    const [placed = ''] = Object.entries(params).find(([, value]) => value === '${token}') ?? [];
    const token = plainText(sent[placed] ?? bearer ?? request.url.pathname.split('/').at(-1) ?? '');
    demandParams(params, sent, { ...this.#stage.known, token });
    const isKind = revocation.token === 'access_token' ? token.startsWith('at-') : true;
    demand(isKind, 'wrong_token_type', { status: 400, error: 'unsupported_token_type' });
    demand(this.tokens.revoke(token), 'unknown_token', { status: 400, error: 'invalid_token' });
    return { status: 200, body: {} };
  }

  /** RFC 7662: to its own client alone. */
  introspect(request: ReceivedRequest): Answer {
    demand(request.method === 'POST', 'wrong_method');
    const [id, secretOfClient] = clientOf(request) ?? [];
    const isClient = id === this.clientId && secretOfClient === this.clientSecret;
    demand(isClient, 'wrong_client', invalidClient);
    const end = this.tokens.endOf(paramsOf(request, 'form')['token']);
    const described =
      end === null ? { active: false } : { active: true, exp: Math.floor(end / 1000) };
    return { status: 200, body: described };
  }

  /** The client proves itself where the definition says, and nowhere else (RFC 6749 section 2.3). */
  #demandClient(
    request: ReceivedRequest,
    sent: JsonObject,
    isInHeader = this.#isClientInHeader,
  ): void {
    const pair = isInHeader ? clientOf(request) : [sent['client_id'], sent['client_secret']];
    const isClient = pair?.[0] === this.clientId && pair[1] === this.clientSecret;
    demand(isClient, 'wrong_client', invalidClient);
    if (isInHeader) demand(sent['client_secret'] === undefined, 'two_client_proofs');
    else demand(request.headers.authorization === undefined, 'two_client_proofs');
  }

  #redeem(sent: JsonObject): IssuedTokens {
    const code = this.#codes.get(plainText(sent['code'] ?? ''));
    demand(code !== undefined, 'unknown_code', invalidGrant);
    // What was given for it ends with it (RFC 6749 section 4.1.2).
    if (code.isUsed) this.tokens.endFamily(code.family);
    demand(!code.isUsed, 'reused_code', invalidGrant);
    demand(sent['redirect_uri'] === code.redirectUri, 'wrong_redirect_uri', invalidGrant);
    const verifier = sent['code_verifier'];
    if (code.challenge === null) demand(verifier === undefined, 'unexpected_pkce_verifier');
    else {
      demand(typeof verifier === 'string', 'no_pkce_verifier', invalidGrant);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      demand(challenge === code.challenge, 'wrong_pkce_verifier', invalidGrant);
    }
    code.isUsed = true;
    return this.tokens.issue(code.family);
  }

  #answer({ accessToken, refreshToken, expiresIn }: IssuedTokens): JsonObject {
    const { definition, known } = this.#stage;
    const { alternate_access_token_response_path: nested, expires_in_unit: unit } = definition;
    const token = { access_token: accessToken, token_type: 'Bearer' };
    const body: Record<string, unknown> = {
      ...(definition.access_token_refresh === undefined ? { refresh_token: refreshToken } : {}),
    };
    // The result is returned elsewhere.
    if (definition.introspection_url === undefined) {
      body['expires_in'] = unit === 'milliseconds' ? expiresIn * 1000 : expiresIn;
    }
    if (nested === undefined) Object.assign(body, token);
    else withPath(body, nested, token);
    for (const path of definition.token_response_metadata ?? []) {
      withPath(body, path, known[`connectionConfig.${path}`] ?? '');
    }
    return body as JsonObject;
  }
}

export function oauth2Rules(stage: Stage): Rules {
  const server = new Oauth2Server(stage);
  const { clientId: client_id, clientSecret: client_secret, tokens } = server;
  return {
    integration: { type: 'OAUTH2', client_id, client_secret, ...scopesOf(stage) },
    form: null,
    importable: () => {
      const { accessToken, refreshToken, expiresIn } = tokens.issue();
      const expires_at = new Date(systemClock.now() + expiresIn * 1000).toISOString();
      return {
        type: 'OAUTH2',
        access_token: accessToken,
        ...(stage.definition.access_token_refresh === undefined
          ? { refresh_token: refreshToken }
          : {}),
        expires_at,
      };
    },
    answer(request) {
      if (request.role === 'authorize') {
        demandScopes(stage, request.url.searchParams.get('scope'));
        return server.authorize(request);
      }
      if (request.role === 'introspect') return server.introspect(request);
      if (request.role === 'revoke') return server.revoke(request);
      if (request.role === 'exchange' || request.role === 'renewal') {
        return server.byAccessToken(request);
      }
      if (request.role === 'token' || request.role === 'refresh') return server.token(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit: (request) => demandToken(stage, request, tokens.live()),
    endTokens: () => tokens.endAccess(),
  };
}
