import { isSecretName } from '#kernel/redact.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';

/** Fields of credentials that are not secret: masking them would make logs unreadable. */
const publicFields = new Set([
  'type',
  'token_type',
  'scope',
  'scopes',
  'expires_at',
  'client_id',
  'clientId',
  'app_id',
  'appId',
  'app_link',
  'appLink',
  'installation_id',
  'organization_id',
  'issuer',
  'resource',
  'token_url',
  'token_endpoint_auth_method',
]);
/** Pairs that are sent as one text, as in Basic authentication. */
const pairs = [
  ['username', 'password'],
  ['client_id', 'client_secret'],
] as const;

/** Of a connection or an integration. */
export function secretsOfCredentials(credentials: JsonObject): string[] {
  const pair = pairs.flatMap((names) => {
    const [name, secret] = names.map((field) => credentials[field]);
    return typeof name === 'string' && typeof secret === 'string' ? [`${name}:${secret}`] : [];
  });
  return [...textsOf(credentials, (name) => !publicFields.has(name)), ...pair];
}

/** Other fields of a token response are readable, so only fields with the name of a secret are masked. */
function textsOf(fields: JsonObject, isSecret: (name: string) => boolean): string[] {
  return Object.entries(fields).flatMap(([name, value]: [string, Json]) => {
    if (typeof value === 'string') return isSecret(name) ? [value] : [];
    if (!isJsonObject(value)) return [];
    return textsOf(value, name === 'raw' ? isSecretName : isSecret);
  });
}
