import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { systemClock } from '#kernel/time.ts';
import type { EntryVector, WebhookVector } from '#test/catalogue/webhook-vectors.ts';
import { checkedFetch } from '../judges/answers.ts';
import { codeOf, startApi, type Api } from './api.ts';
import { builtInCatalogue } from './catalogue.ts';

/** Which secrets an integration and its connections have. */
export type Secrets = 'own' | 'other' | 'blank';

/** What the gateway answered. */
export interface Received {
  readonly status: number;
  readonly code: string;
  readonly text: string;
  readonly headers: Headers;
}

/** A request to the address of an integration. */
export interface Sending {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string | undefined;
  readonly body?: string | undefined;
}

/** The gateway at the time of a vector, with one integration of each entry and kind of secrets. */
export interface VectorWorld extends AsyncDisposable {
  send(one: EntryVector, secrets: Secrets, sending: Sending): Promise<Received>;
  /** The kept webhooks of the integration, the latest first. */
  listed(one: EntryVector, secrets: Secrets): Promise<ListedWebhook[]>;
}

export interface ListedWebhook {
  readonly disposition: string;
  readonly reason: string | null;
  readonly connection_ids: readonly string[];
  readonly type: string | null;
}

const folderOf = async (stack: AsyncDisposableStack): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-vectors-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  return folder;
};

/** The rules of the catalog under a mode that takes every secret and asks nobody whether credentials are right. */
const definitionOf = (entry: string): object => ({
  display_name: entry,
  categories: ['other'],
  docs: 'https://docs.example',
  auth_mode: 'OAUTH2',
  authorization_url: 'https://provider.example/a',
  token_url: 'https://provider.example/t',
  proxy: { base_url: 'https://provider.example' },
  webhook_routing: builtInCatalogue().find(entry)?.webhook_routing,
});

/**
 * @param vectors their entries
 * @param time seconds since the epoch at which it begins
 */
export async function openVectorWorld(
  vectors: readonly EntryVector[],
  time: number,
): Promise<VectorWorld> {
  await using stack = new AsyncDisposableStack();
  const folder = await folderOf(stack);
  const definitions = Object.fromEntries(
    vectors.map(({ entry }) => [`v-${entry}`, definitionOf(entry)]),
  );
  await writeFile(join(folder, 'vectors.json'), JSON.stringify(definitions));
  const behind = systemClock.now() - time * 1000;
  const clock = {
    now: () => systemClock.now() - behind,
    nowMicros: () => systemClock.nowMicros() - behind * 1000,
  };
  const api = stack.use(await startApi({ clock, overlayPath: folder }));
  const keys = new Map<string, Promise<string>>();
  let environment: string | null = null;
  const keyOf = (one: EntryVector, secrets: Secrets): Promise<string> => {
    const key = `${one.entry}-${vectors.indexOf(one)}-${secrets}`;
    const made = keys.get(key) ?? createIntegration(api, key, one, secrets);
    keys.set(key, made);
    return made;
  };
  const opened = stack.move();
  return {
    async send(one, secrets, { method = 'POST', headers = {}, query, body }) {
      const key = await keyOf(one, secrets);
      environment ??= await environmentOf(api, key);
      const search = query === undefined ? '' : `?${query}`;
      const url = `${api.url}/webhook/${environment}/${key}${search}`;
      const content = method === 'POST' ? { body: body ?? '' } : {};
      const response = await checkedFetch(url, { method, headers, ...content });
      const text = await response.text();
      const code = response.status < 400 || text === '' ? '' : codeIn(text);
      return { status: response.status, code, text, headers: response.headers };
    },
    async listed(one, secrets) {
      const key = await keyOf(one, secrets);
      const answer = await api.call('GET', `/webhook-deliveries?provider_config_key=${key}`);
      expect(codeOf(answer)).toBe('200 ');
      return answer.at('data') as ListedWebhook[];
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const codeIn = (text: string): string =>
  (JSON.parse(text) as { error: { code: string } }).error.code;

async function environmentOf(api: Api, key: string): Promise<string> {
  const shown = await api.call('GET', `/integrations/${key}?include=webhook`);
  return /webhook\/([^/]+)\//.exec(String(shown.at('data.webhook_url')))?.[1] ?? '';
}

/** The secret itself, another, or one that contains no key. */
function secretOf(secret: string, secrets: Secrets): string {
  if (secrets === 'own') return secret;
  return secrets === 'blank' ? ' ' : otherSecret(secret);
}

/** Another of the same form. */
function otherSecret(secret: string): string {
  // Public keys of the same kinds: any text that is none would be refused for its form.
  if (secret.includes('BEGIN PUBLIC KEY')) return otherKeys.pem;
  if (secret.startsWith('MFkw')) return otherKeys.p256;
  if (/^[A-Za-z0-9+/]{43}=$/.test(secret)) return otherKeys.ed25519;
  const at = secret.startsWith('whsec_') ? 8 : 2;
  const swapped = secret[at] === 'a' ? 'b' : 'a';
  return `${secret.slice(0, at)}${swapped}${secret.slice(at + 1)}`;
}

const otherKeys = {
  ed25519: '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=',
  pem: '-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----',
  p256: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEaxfR8uEsQkf4vOblY6RA8ncDfYEt6zOg9KE5RdiYwpZP40Li/hp/m47n60p8D54WK84zV2sxXs7LtkBoN79R9Q==',
};

const isSecretName = (name: string): boolean => /secret/i.test(name);

/** With the secrets in it replaced. */
const withSecrets = (
  value: NonNullable<WebhookVector['connection']>['metadata'],
  secrets: Secrets,
): object =>
  Object.fromEntries(
    Object.entries(value ?? {}).map(([name, inner]) => [
      name,
      typeof inner === 'string'
        ? isSecretName(name)
          ? secretOf(inner, secrets)
          : inner
        : inner === null || typeof inner !== 'object' || Array.isArray(inner)
          ? inner
          : withSecrets(inner, secrets),
    ]),
  );

/** An integration with the connections `acme`, that of the vector, and `beta`, which has another secret. */
async function createIntegration(
  api: Api,
  key: string,
  { entry, vector }: EntryVector,
  secrets: Secrets,
): Promise<string> {
  const { integration = {}, connection = {} } = vector;
  const { webhookSecret } = connection.metadata ?? {};
  const send = async (expected: string, method: string, path: string, body: object) =>
    expect(`${key} ${codeOf(await api.call(method, path, { body }))}`).toBe(`${key} ${expected}`);
  const credentials = {
    type: 'OAUTH2',
    client_id: 'c',
    client_secret: secretOf(integration.client_secret ?? 'unused', secrets),
    ...(integration.webhook_secret === undefined
      ? {}
      : { webhook_secret: secretOf(integration.webhook_secret, secrets) }),
  };
  const created = { provider: `v-${entry}`, unique_key: key, credentials };
  await send('200 ', 'POST', '/integrations', created);
  for (const id of ['acme', 'beta']) {
    const isOwn = id === 'acme';
    await send('201 ', 'POST', '/connections', {
      provider_config_key: key,
      connection_id: id,
      credentials: { type: 'OAUTH2', access_token: 't' },
      ...(isOwn ? { connection_config: connection.connection_config ?? {} } : {}),
    });
    const metadata = isOwn
      ? withSecrets(connection.metadata, secrets)
      : { webhookSecret: otherSecret(typeof webhookSecret === 'string' ? webhookSecret : 'none') };
    await send('200 ', 'PATCH', '/connections/metadata', {
      provider_config_key: key,
      connection_id: id,
      metadata,
    });
  }
  return key;
}
