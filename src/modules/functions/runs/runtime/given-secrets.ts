import { secretsOfCredentials } from '#modules/connections/credentials/secrets.ts';
import type { RunConnection } from './deps.ts';

/** Secrets of a connection that texts of a run must not contain. */
export function secretsOfConnection({ connection, integration }: RunConnection): string[] {
  const { clientId, clientSecret } = integration;
  const client = { client_id: clientId ?? null, client_secret: clientSecret ?? null };
  return [...secretsOfCredentials(connection.credentials ?? {}), ...secretsOfCredentials(client)];
}
