import { atPath, textAt } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { Credentials } from '../../connections/state.ts';
import type { Provider } from '../../providers/definition.ts';
import { afterSeconds, atTime, iso } from './expiry.ts';
import type { ModeContext, ObtainedCredentials } from './mode.ts';
import { answerWithout } from './provider-auth-error.ts';

/** Dotted paths of a response as configuration under the same names (`token_response_metadata`). */
export function picked(answer: JsonObject, paths: readonly string[] | undefined): JsonObject {
  const found = (paths ?? []).flatMap((path): [string, Json][] => {
    const value = atPath(answer, path);
    return value === undefined || value === null ? [] : [[path, value]];
  });
  return Object.fromEntries(found);
}

/** The token's own expiry: `expires_at`, else `expires_in`; numbers or numeric text. */
export function expiryOf(answer: JsonObject, provider: Provider, now: Instant): Instant | null {
  return (
    atTime(answer['expires_at'], now) ??
    afterSeconds(answer['expires_in'], now, provider.expires_in_unit)
  );
}

/**
 * A response of the token endpoint (RFC 6749 section 5.1) as credentials. Fields that it lacks are taken from `before`:
 * a refresh token that is not repeated stays valid.
 * @throws ProviderAuthError `unable_to_parse_token_response`
 */
export function readToken(
  { provider, clock }: ModeContext,
  answer: JsonObject,
  before: Credentials | null,
  metadataPaths: readonly string[] | undefined = provider.token_response_metadata,
): ObtainedCredentials {
  const source = tokenObject(answer, provider);
  const accessToken = textAt(source, 'access_token');
  if (accessToken === null) {
    throw answerWithout('access token', provider, 'unable_to_parse_token_response');
  }
  const expiresAt = expiryOf(source, provider, clock.now());
  const refreshToken = textAt(source, 'refresh_token') ?? before?.['refresh_token'];
  const override = before?.['config_override'];
  return {
    credentials: {
      type: 'OAUTH2',
      access_token: accessToken,
      ...(refreshToken === undefined ? {} : { refresh_token: refreshToken }),
      ...(expiresAt === null ? {} : { expires_at: iso(expiresAt) }),
      ...(override === undefined ? {} : { config_override: override }),
      raw: answer,
    },
    expiresAt,
    connectionConfig: picked(answer, metadataPaths),
  };
}

/** Some providers nest the token, under an object or at a path of its own. */
function tokenObject(answer: JsonObject, provider: Provider): JsonObject {
  const { alternate_access_token_response_path: path } = provider;
  if (path === undefined || textAt(answer, 'access_token') !== null) return answer;
  const found = atPath(answer, path);
  if (isJsonObject(found)) return { ...answer, ...found };
  return typeof found === 'string' ? { ...answer, access_token: found } : answer;
}
