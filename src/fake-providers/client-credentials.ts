import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import type { JsonObject } from '#kernel/stable-json.ts';
import {
  clientOf,
  demand,
  invalidClient,
  paramsOf,
  Refusal,
  type Answer,
  type ReceivedRequest,
} from './exchange.ts';
import { demandHeaders, demandParams, demandToken, type Rules, type Stage } from './rules.ts';
import { secret, TokenStore } from './tokens.ts';
import { withPath } from './with-path.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Client credentials (RFC 6749 section 4.4), the client proved as the definition says. */
class CredentialsClient {
  readonly tokens: TokenStore;
  readonly #stage: Stage;
  readonly #clientId = secret('client');
  readonly #clientSecret = `${secret('client-secret')}+/=%:&é`;
  /** Null where the client has a secret. */
  readonly #key: AssertionKey | null;
  readonly #usedAssertions = new Set<string>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.tokens = new TokenStore(stage);
    const isSigned = stage.definition.token_request_auth_method === 'private_key_jwt';
    this.#key = isSigned ? newAssertionKey() : null;
    stage.known['clientId'] = this.#clientId;
    stage.known['clientSecret'] = this.#clientSecret;
  }

  get #privateKey(): { readonly client_private_key?: string } {
    return this.#key === null ? {} : { client_private_key: JSON.stringify(this.#key.jwk) };
  }

  get form(): JsonObject {
    const proof = this.#key === null ? { client_secret: this.#clientSecret } : this.#privateKey;
    return { client_id: this.#clientId, ...proof };
  }

  importable(): JsonObject {
    return {
      type: 'OAUTH2_CC',
      token: this.tokens.issueAccess(),
      client_id: this.#clientId,
      client_secret: this.#clientSecret,
      ...this.#privateKey,
    };
  }

  async token(request: ReceivedRequest): Promise<Answer> {
    const { definition, known } = this.#stage;
    const sent = paramsOf(request, definition.body_format ?? 'form');
    await this.#demandClient(request, sent);
    demandHeaders(definition.token_headers, request, known);
    demandParams({ grant_type: 'client_credentials', ...definition.token_params }, sent, known);
    const scopes = known['connectionConfig.oauth_scopes'] ?? definition.default_scopes?.join(',');
    if (scopes !== undefined && definition.token_params?.['scope'] === undefined) {
      const wanted = scopes.split(',').join(definition.scope_separator ?? ' ');
      demand(sent['scope'] === wanted, `wrong_scope: ${wanted}`);
    }
    return this.#granted();
  }

  async #demandClient(request: ReceivedRequest, sent: JsonObject): Promise<void> {
    switch (this.#stage.definition.token_request_auth_method) {
      case 'basic':
        this.#demandPair(clientOf(request));
        demand(sent['client_secret'] === undefined, 'two_client_proofs');
        return;
      case 'custom':
        this.#demandPair([sent['username'], sent['password']]);
        return;
      case 'private_key_jwt':
        demand(
          sent['client_assertion_type'] === assertionType,
          'wrong_assertion_type',
          invalidClient,
        );
        await this.#demandAssertion(sent['client_assertion'], request);
        return;
      default:
        this.#demandPair([sent['client_id'], sent['client_secret']]);
        demand(request.headers.authorization === undefined, 'two_client_proofs');
    }
  }

  #demandPair(pair: readonly unknown[] | null): void {
    const isClient = pair?.[0] === this.#clientId && pair[1] === this.#clientSecret;
    demand(isClient, 'wrong_client', invalidClient);
  }

  /** RFC 7523 section 3: signature, issuer, subject, audience, end, and no assertion twice. */
  async #demandAssertion(assertion: unknown, { url }: ReceivedRequest): Promise<void> {
    const key = this.#key;
    demand(typeof assertion === 'string' && key !== null, 'no_assertion', invalidClient);
    const verified = await jwtVerify(assertion, key.publicKey, {
      algorithms: ['RS256'],
      issuer: this.#clientId,
      subject: this.#clientId,
      audience: `${url.origin}${url.pathname}`,
      requiredClaims: ['exp', 'jti'],
    }).catch((error: unknown) => {
      throw new Refusal(401, 'invalid_client', `wrong_assertion: ${String(error)}`);
    });
    demand(decodeProtectedHeader(assertion).kid === key.jwk.kid, 'wrong_kid', invalidClient);
    const id = String(verified.payload.jti);
    demand(!this.#usedAssertions.has(id), 'reused_assertion', invalidClient);
    this.#usedAssertions.add(id);
  }

  #granted(): Answer {
    const { definition, known } = this.#stage;
    const body: Record<string, unknown> = {
      access_token: this.tokens.issueAccess(),
      token_type: 'Bearer',
      expires_in: this.#stage.lifetime,
    };
    for (const path of definition.token_response_metadata ?? []) {
      withPath(body, path, known[`connectionConfig.${path}`] ?? '');
    }
    return { status: 200, body: body as JsonObject };
  }
}

function newAssertionKey() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { publicKey, jwk: { ...privateKey.export({ format: 'jwk' }), kid: randomUUID() } };
}
type AssertionKey = ReturnType<typeof newAssertionKey>;

export function clientCredentialsRules(stage: Stage): Rules {
  const client = new CredentialsClient(stage);
  return {
    integration: null,
    form: client.form,
    importable: () => client.importable(),
    answer(request) {
      if (request.role === 'token') return client.token(request);
      throw new Refusal(404, 'not_found', `no_such_endpoint: ${request.role}`);
    },
    admit: (request) => demandToken(stage, request, client.tokens.live()),
    endTokens: () => client.tokens.endAccess(),
  };
}
