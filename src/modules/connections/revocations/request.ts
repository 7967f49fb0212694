import { GatewayError } from '#kernel/errors.ts';
import { textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { interpolateUrl } from '#rules/interpolate.ts';
import type { Credentials } from '../connections/state.ts';
import type { ModeContext } from '../credentials/modes/mode.ts';
import {
  clientHeader,
  headersOf,
  paramsOf,
  tokenValues,
} from '../credentials/modes/token-request.ts';
import type { Provider } from '../providers/definition.ts';

type RevocationRules = NonNullable<Provider['revocation']>;

/** A call that ends a token at its provider, complete with its secrets. */
export type RevocationRequest = JsonObject & {
  readonly url: string;
  readonly method: NonNullable<RevocationRules['method']>;
  readonly format: 'form' | 'json' | 'query';
  readonly headers: Readonly<Record<string, string>>;
  readonly params: JsonObject;
  /** Whether the access token authenticates it: 401 then is about the token. */
  readonly isBearer: boolean;
  /** Whether the connection has no other token: where this one has ended, so has the access. */
  readonly isWholeAccess: boolean;
};

/**
 * The call by the definition; null: it has none, or the connection has no token.
 * @throws GatewayError `missing_api_url`, `invalid_credentials` (the integration has no client)
 */
export function revocationRequest(
  context: ModeContext,
  credentials: Credentials,
): RevocationRequest | null {
  const { provider } = context;
  const { revocation } = provider;
  const accessToken = textAt(credentials, 'access_token') ?? textAt(credentials, 'token');
  const refreshToken = textAt(credentials, 'refresh_token');
  const token = (revocation?.token === 'access_token' ? null : refreshToken) ?? accessToken;
  if (revocation === undefined || token === null) return null;
  const { method: httpMethod = 'POST' } = revocation;
  const method = revocation.auth_method ?? tokenCallMethod(provider);
  const client = clientOf(context, credentials);
  const values = {
    ...tokenValues(context, credentials, { token }),
    clientId: client?.id,
    clientSecret: client?.secret,
  };
  const url = interpolateUrl(revocation.url, values);
  if (url === null || !URL.canParse(url)) {
    const message = `The provider "${provider.name}" has no usable revocation.url for this connection.`;
    throw new GatewayError('missing_api_url', { message });
  }
  const proof = authentication(method, client, accessToken ?? token);
  return {
    url,
    method: httpMethod,
    format: httpMethod === 'POST' ? (revocation.body_format ?? 'form') : 'query',
    params: { ...proof.params, ...paramsOf(revocation.params ?? { token: '${token}' }, values) },
    headers: { ...proof.headers, ...headersOf(revocation.headers, values) },
    isBearer: method === 'bearer',
    isWholeAccess: refreshToken === null || token === refreshToken,
  };
}

interface Client {
  readonly id: string;
  readonly secret: string;
}

/** @throws GatewayError `invalid_credentials`: there is no client where one is needed */
function authentication(
  method: NonNullable<RevocationRules['auth_method']>,
  client: Client | null,
  accessToken: string,
): { readonly params?: JsonObject; readonly headers?: Readonly<Record<string, string>> } {
  if (method === 'none') return {};
  if (method === 'bearer') return { headers: { authorization: `Bearer ${accessToken}` } };
  if (client === null) {
    const message = 'The integration has no client credentials for the revocation.';
    throw new GatewayError('invalid_credentials', { message });
  }
  const { id, secret } = client;
  return method === 'basic'
    ? { headers: { authorization: clientHeader(id, secret) } }
    : { params: { client_id: id, client_secret: secret } };
}

/** As the client authenticates at the token endpoint. */
const tokenCallMethod = (provider: Provider): 'basic' | 'body' =>
  provider.authorization_method === 'header' || provider.token_request_auth_method === 'basic'
    ? 'basic'
    : 'body';

/** The connection's own client, or that of the integration; null: there is none. */
function clientOf({ client }: ModeContext, credentials: Credentials): Client | null {
  const own = objectOf(credentials['config_override']);
  const id = textAt(own, 'client_id') ?? client?.clientId;
  if (id === undefined) return null;
  return { id, secret: textAt(own, 'client_secret') ?? client?.clientSecret ?? '' };
}
