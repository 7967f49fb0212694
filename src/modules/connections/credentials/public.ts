import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Credentials } from '../connections/state.ts';

const refreshTokenName = /^refresh[ _-]?token$/i;

/**
 * Credentials as a caller may see them (docs/reference/http.md#connections): none without a credentials scope, and
 * no refresh token at any depth unless asked for.
 */
export function publicCredentials(
  credentials: Credentials,
  options: { readonly withCredentials: boolean; readonly withRefreshToken: boolean },
): JsonObject {
  if (!options.withCredentials || credentials.type === 'NONE') return {};
  return options.withRefreshToken ? credentials : withoutRefreshTokens(credentials);
}

/**
 * Which credentials there are, and until when: every other value is `***`. The response of the provider to the
 * authorization (`raw`) is left out.
 */
export function maskedCredentials(credentials: Credentials): JsonObject {
  if (credentials.type === 'NONE') return {};
  const { type: _type, expires_at, raw: _raw, ...secrets }: JsonObject = credentials;
  const isSet = ([, value]: readonly [string, Json | undefined]): boolean =>
    value !== null && value !== undefined && value !== '';
  const masked = Object.entries(secrets).filter(isSet);
  return {
    type: credentials.type,
    ...(typeof expires_at === 'string' ? { expires_at } : {}),
    ...Object.fromEntries(masked.map(([name]) => [name, '***'])),
  };
}

/** The object without keys spelled like "refresh token", at any depth. */
export function withoutRefreshTokens(value: JsonObject): JsonObject {
  return strip(value) as JsonObject;
}

function strip(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => strip(item as Json));
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !refreshTokenName.test(key));
  return Object.fromEntries(kept.map(([key, item]) => [key, strip(item)]));
}
