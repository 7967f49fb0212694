import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { decodeProtectedHeader, jwtVerify } from 'jose';
import type { JsonObject } from '#kernel/stable-json.ts';
import {
  clientOf,
  demand,
  invalidClient,
  paramsOf,
  Refused,
  type Answer,
  type Incoming,
} from './exchange.ts';
import { demandHeaders, demandParams, demandToken, type Rules, type Stage } from './rules.ts';
import { secret, TokenStore } from './tokens.ts';
import { withPath } from './with-path.ts';

const assertionType = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** Client credentials (RFC 6749 section 4.4), the client proved as the definition says. */
export function clientCredentialsRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const clientId = secret('client');
  const clientSecret = `${secret('client-secret')}+/=%:&é`;
  const tokens = new TokenStore(stage.options);
  const key = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...key.privateKey.export({ format: 'jwk' }), kid: randomUUID() };
  const usedAssertions = new Set<string>();
  const isSigned = definition.token_request_auth_method === 'private_key_jwt';
  known['clientId'] = clientId;
  known['clientSecret'] = clientSecret;
  return {
    integration: null,
    form: {
      client_id: clientId,
      ...(isSigned ? { client_private_key: JSON.stringify(jwk) } : { client_secret: clientSecret }),
    },
    importable: () => ({
      type: 'OAUTH2_CC',
      token: tokens.issueAccess(),
      client_id: clientId,
      client_secret: clientSecret,
      ...(isSigned ? { client_private_key: JSON.stringify(jwk) } : {}),
    }),
    async answer(request) {
      if (request.role !== 'token') {
        throw new Refused(404, 'not_found', `no_such_endpoint: ${request.role}`);
      }
      const sent = paramsOf(request, definition.body_format ?? 'form');
      await demandClient(request, sent);
      demandHeaders(definition.token_headers, request, known);
      demandParams({ grant_type: 'client_credentials', ...definition.token_params }, sent, known);
      return granted();
    },
    admit: (request) => demandToken(stage, request, tokens.live()),
    endTokens: () => tokens.endAccess(),
  };

  async function demandClient(request: Incoming, sent: JsonObject): Promise<void> {
    switch (definition.token_request_auth_method) {
      case 'basic':
        demandPair(clientOf(request));
        demand(sent['client_secret'] === undefined, 'two_client_proofs');
        return;
      case 'custom':
        demandPair([sent['username'], sent['password']]);
        return;
      case 'private_key_jwt':
        demand(
          sent['client_assertion_type'] === assertionType,
          'wrong_assertion_type',
          invalidClient,
        );
        await demandAssertion(sent['client_assertion'], request);
        return;
      default:
        demandPair([sent['client_id'], sent['client_secret']]);
        demand(request.headers.authorization === undefined, 'two_client_proofs');
    }
  }

  function demandPair(pair: readonly unknown[] | null): void {
    demand(pair?.[0] === clientId && pair[1] === clientSecret, 'wrong_client', invalidClient);
  }

  /** RFC 7523 section 3: signature, issuer, subject, audience, end, and no assertion twice. */
  async function demandAssertion(assertion: unknown, { url }: Incoming): Promise<void> {
    demand(typeof assertion === 'string', 'no_assertion', invalidClient);
    const verified = await jwtVerify(assertion, key.publicKey, {
      algorithms: ['RS256'],
      issuer: clientId,
      subject: clientId,
      audience: `${url.origin}${url.pathname}`,
      requiredClaims: ['exp', 'jti'],
    }).catch((error: unknown) => {
      throw new Refused(401, 'invalid_client', `wrong_assertion: ${String(error)}`);
    });
    demand(decodeProtectedHeader(assertion).kid === jwk.kid, 'wrong_kid', invalidClient);
    const id = String(verified.payload.jti);
    demand(!usedAssertions.has(id), 'reused_assertion', invalidClient);
    usedAssertions.add(id);
  }

  function granted(): Answer {
    const body: Record<string, unknown> = {
      access_token: tokens.issueAccess(),
      token_type: 'Bearer',
      expires_in: stage.options.expiresIn ?? 3600,
    };
    for (const path of definition.token_response_metadata ?? []) {
      withPath(body, path, known[`connectionConfig.${path}`] ?? '');
    }
    return { status: 200, body: body as JsonObject };
  }
}
