import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { AuthMode } from '#modules/connections/providers/definition.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import type { Canaries } from '../judges/canaries.ts';

/** A provider that gives tokens for whatever it is asked, and repeats what it was shown when it refuses. */
export interface TokenGiver extends AsyncDisposable {
  readonly url: string;
  readonly hostPort: string;
  /** From now on every request is refused with what it showed in the answer. */
  refuse(): void;
}

/** @param tokens fields of the answers that give tokens */
export async function openTokenGiver(
  tokens: Readonly<Record<string, string>>,
): Promise<TokenGiver> {
  let isRefusing = false;
  const server = createServer((request, response) => {
    void request.toArray().then((chunks) => {
      const shown = Buffer.concat(chunks as Buffer[]).toString();
      const form = Object.fromEntries(new URLSearchParams(shown));
      const { authorization = '' } = request.headers;
      const refusal = {
        error: form['refresh_token'] ?? 'invalid_grant',
        code: authorization.slice('Bearer '.length),
        error_description: `${authorization} ${request.url ?? ''} ${shown}`,
        ...form,
      };
      if (request.url?.startsWith('/.well-known/oauth-authorization-server') === true) {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(metadataOf(`http://${request.headers.host ?? ''}`)));
        return;
      }
      response.writeHead(isRefusing ? 400 : 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(isRefusing ? refusal : { ...tokens, expires_in: 3600 }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${hostPort}`,
    hostPort,
    refuse: () => {
      isRefusing = true;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Of an authorization server (RFC 8414). */
const metadataOf = (issuer: string) => ({
  issuer,
  authorization_endpoint: issuer,
  token_endpoint: `${issuer}/token`,
  response_types_supported: ['code'],
});

/** The integration and the provider of a mode. */
export const nameOf = (mode: AuthMode): string =>
  `canary-${mode.toLowerCase().replaceAll('_', '-')}`;

const secretField = { type: 'string', title: 'Secret', description: 'A secret.', secret: true };

/** One provider of each mode, at the giver of tokens. */
export function definitionsAt({ url }: TokenGiver): object {
  const more: Partial<Record<AuthMode, object>> = {
    OAUTH1: { request_url: `${url}/request`, authorization_url: url, token_url: `${url}/token` },
    OAUTH2: { authorization_url: url, token_url: `${url}/token` },
    MCP_OAUTH2: { mcp_server_url: `${url}/mcp` },
    AWS_SIGV4: {
      credentials: { access_key_id: secretField, secret_access_key: secretField },
      aws_signature: { service: 'things', region: 'us-east-1' },
    },
    OAUTH2_CC: { token_url: `${url}/token` },
    API_KEY: { credentials: { apiKey: secretField } },
    APP: { authorization_url: url, token_url: `${url}/installation` },
    CUSTOM: {
      authorization_url: url,
      token_url: { OAUTH2: `${url}/token`, APP: `${url}/installation` },
    },
    JWT: {
      credentials: { signingKey: secretField },
      token: {
        signing_key: '${credentials.signingKey}',
        expires_in_ms: 600_000,
        header: { alg: 'HS256' },
        payload: { iss: 'canary' },
      },
      signature: { protocol: 'HMAC', hmac_secret_encoding: 'utf8' },
    },
    BILL: { token_url: `${url}/login` },
    TWO_STEP: {
      credentials: { pass: secretField },
      token_url: `${url}/login`,
      token_params: { pass: '${credentials.pass}' },
      token_response: { token: 'token', refresh_token: 'refresh_token' },
    },
    SIGNATURE: { signature: { protocol: 'WSSE' }, token: { expires_in_ms: 600_000 } },
  };
  const entries = authModes.map((mode) => {
    const entry = { display_name: mode, categories: [], docs: 'https://docs.example' };
    const proxy = { base_url: `${url}/api` };
    return [nameOf(mode), { ...entry, auth_mode: mode, proxy, ...more[mode] }];
  });
  return Object.fromEntries(entries) as object;
}

/** A private key whose text is planted, without its first and last lines. */
function plantedKey(canaries: Canaries, canary: string, kind: 'rsa' | 'ec'): string {
  const { privateKey } =
    kind === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const type = kind === 'rsa' ? 'pkcs1' : 'pkcs8';
  const pem = privateKey
    .export({ format: 'pem', type } as never)
    .toString()
    .trim();
  // Any one of its lines gives a part of the key away.
  for (const [at, line] of pem.split('\n').slice(1, 4).entries()) {
    canaries.plant(`${canary}, line ${at + 1}`, line);
  }
  return pem;
}

/** What `POST /integrations` takes for the mode; undefined where it takes no credentials. */
export function integrationSecrets(mode: AuthMode, canaries: Canaries): object | undefined {
  const plant = (what: string) => canaries.plant(`${mode} ${what}`);
  const app = () => ({
    app_id: '1',
    app_link: 'https://app.example',
    private_key: plantedKey(canaries, `${mode} private key`, 'rsa'),
  });
  switch (mode) {
    case 'OAUTH1':
    case 'OAUTH2':
    case 'TBA': {
      const client = { client_id: 'client', client_secret: plant('client secret') };
      return { type: mode, ...client, webhook_secret: plant('webhook secret') };
    }
    case 'AWS_SIGV4':
    case 'MCP_OAUTH2':
      return { type: mode, client_id: 'client', client_secret: plant('client secret') };
    case 'APP':
      return { type: mode, ...app() };
    case 'CUSTOM':
      return { type: mode, client_id: 'client', client_secret: plant('client secret'), ...app() };
    default:
      return undefined;
  }
}

/** What `POST /connections` takes for the mode. */
export function connectionSecrets(mode: AuthMode, canaries: Canaries): object {
  const plant = (what: string) => canaries.plant(`${mode} ${what}`);
  const past = { expires_at: '2026-01-01T00:00:00Z' };
  const secrets: Record<AuthMode, () => object> = {
    OAUTH1: () => ({ oauth_token: plant('token'), oauth_token_secret: plant('token secret') }),
    OAUTH2: () => ({
      access_token: plant('access token'),
      refresh_token: plant('refresh token'),
      ...past,
    }),
    MCP_OAUTH2: () => ({
      access_token: plant('access token'),
      refresh_token: plant('refresh token'),
      ...past,
    }),
    AWS_SIGV4: () => ({
      access_key_id: 'AKIAIOSFODNN7EXAMPLE',
      secret_access_key: plant('secret access key'),
    }),
    OAUTH2_CC: () => ({
      token: plant('token'),
      client_id: 'client',
      client_secret: plant('own client secret'),
      ...past,
    }),
    BASIC: () => ({ username: 'u', password: plant('password') }),
    API_KEY: () => ({ apiKey: plant('key') }),
    APP_STORE: () => ({
      privateKeyId: 'k',
      issuerId: 'i',
      privateKey: plantedKey(canaries, `${mode} private key`, 'ec'),
    }),
    CUSTOM: () => ({ app_id: '1', installation_id: '2' }),
    APP: () => ({ app_id: '1', installation_id: '2' }),
    NONE: () => ({}),
    TBA: () => ({ token_id: plant('token id'), token_secret: plant('token secret') }),
    JWT: () => ({ signingKey: plant('signing key') }),
    BILL: () => ({
      username: 'u',
      password: plant('password'),
      organization_id: 'o',
      dev_key: plant('developer key'),
    }),
    TWO_STEP: () => ({ pass: plant('pass') }),
    SIGNATURE: () => ({ username: 'u', password: plant('password') }),
  };
  return { type: mode, ...secrets[mode]() };
}
