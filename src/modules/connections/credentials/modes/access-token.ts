import { textAt } from '#kernel/json-path.ts';
import type { Instant } from '#kernel/time.ts';
import type { TemplateValues } from '#rules/interpolate.ts';
import { isOutageStatus } from '../../connections/rules.ts';
import type { Credentials } from '../../connections/state.ts';
import type { Provider } from '../../providers/definition.ts';
import { ProviderAuthError } from './provider-auth-error.ts';
import { addressOf, headersOf, paramsOf, type TokenRequest } from './token-request.ts';

/** A call that presents the access token: its exchange, or its own refresh. */
export function accessTokenRequest(
  provider: Provider,
  { url, method, params, headers }: NonNullable<Provider['token_exchange']>,
  values: TemplateValues,
): TokenRequest {
  const { token_url: tokenUrl } = provider;
  const template = url ?? (typeof tokenUrl === 'string' ? tokenUrl : tokenUrl?.OAUTH2);
  return {
    url: addressOf(provider, 'token_url', template, values),
    method,
    params: paramsOf(params, values),
    format: provider.body_format,
    headers: headersOf(headers, values),
    failure: 'refresh_token_external_error',
  };
}

/**
 * A refusal of the refresh of an access token by itself. While the token is valid, 400 may mean that the refresh comes
 * too early: only 401 ends it. An expired one cannot be refreshed any more.
 */
export function earlyRefusal(
  error: ProviderAuthError,
  held: Credentials,
  now: Instant,
): ProviderAuthError {
  const { failure } = error;
  const { providerStatus: status } = failure;
  const end = Date.parse(textAt(held, 'expires_at') ?? '');
  const isRefusal = status !== null && status >= 400 && !isOutageStatus(status);
  const isDefinitive = end <= now ? isRefusal : status === 401 && failure.isDefinitive;
  return new ProviderAuthError({ ...failure, isDefinitive }, { cause: error });
}
