import { isJsonObject, type Json, type JsonObject } from '../../../kernel/stable-json.ts';
import { isSecretName } from '../../../kernel/redact.ts';
import type { RunConnection } from './runtime/deps.ts';

/** Fields of credentials that are no secret: to hide them would only make logs unreadable. */
const publicFields = new Set([
  'type',
  'token_type',
  'scope',
  'scopes',
  'expires_at',
  'client_id',
  'app_id',
  'app_link',
  'installation_id',
  'organization_id',
]);
/** Pairs that travel as one text, as in Basic authentication. */
const pairs = [
  ['username', 'password'],
  ['client_id', 'client_secret'],
] as const;

/** What no text that leaves a run may show of a connection that it was given. */
export function secretsOfConnection({ connection, integration }: RunConnection): string[] {
  const { clientId, clientSecret } = integration;
  const client = { client_id: clientId ?? null, client_secret: clientSecret ?? null };
  return [...secretsOfCredentials(connection.credentials ?? {}), ...secretsOfCredentials(client)];
}

/** Of a connection or an integration. */
export function secretsOfCredentials(credentials: JsonObject): string[] {
  const pair = pairs.flatMap((names) => {
    const [name, secret] = names.map((field) => credentials[field]);
    return typeof name === 'string' && typeof secret === 'string' ? [`${name}:${secret}`] : [];
  });
  return [...textsOf(credentials, (name) => !publicFields.has(name)), ...pair];
}

/** What a provider answered beside its tokens is for people to read, so that there only what is named like a secret is one. */
function textsOf(fields: JsonObject, isSecret: (name: string) => boolean): string[] {
  return Object.entries(fields).flatMap(([name, value]: [string, Json]) => {
    if (typeof value === 'string') return isSecret(name) ? [value] : [];
    if (!isJsonObject(value)) return [];
    return textsOf(value, name === 'raw' ? isSecretName : isSecret);
  });
}
