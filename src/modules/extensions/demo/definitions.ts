import type { Fingerprints } from '#modules/access/vault/vault.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { definitionSchema } from '#modules/connections/providers/schema.ts';

/** The demo provider with each kind of credentials; the integrations of `setUpDemo` have the same names. */
export const demoNames = ['demo-oauth', 'demo-key'] as const;
export type DemoName = (typeof demoNames)[number];

export const demoClientId = 'svc-demo';

export const demoClientSecret = (vault: Fingerprints): string =>
  vault.fingerprint('demo-client', 'secret');

/** Not secret: only processes of this machine reach the provider, and its contacts are made up. */
export const demoApiKey = 'demo';

/** Entries of the catalog. @param url where the demo provider listens, without a trailing slash */
export function demoDefinitions(url: string): readonly Provider[] {
  const proxy = {
    base_url: url,
    retry: { after: ['retry-after'] },
    paginate: {
      type: 'cursor',
      cursor_path_in_response: 'next',
      cursor_name_in_request: 'after',
      limit_name_in_request: 'limit',
      response_path: 'data',
    },
    verification: { endpoints: ['/me'] },
  };
  const common = {
    categories: ['demo'],
    docs: `${url}/`,
    webhook_routing: {
      signatures: [{ scheme: 'standard-webhooks', keys: [{ metadata: ['webhookSecret'] }] }],
      connection: {
        property: 'connectionId',
        identifier: [{ query: 'svcConnectionId' }],
        is_required: true,
      },
      type: [{ body: 'type' }],
      delivery_id: [{ header: 'webhook-id' }],
    },
  };
  const byName: Readonly<Record<DemoName, object>> = {
    'demo-oauth': {
      ...common,
      display_name: 'Demo provider',
      auth_mode: 'OAUTH2',
      authorization_url: `${url}/oauth/authorize`,
      token_url: `${url}/oauth/token`,
      token_params: { grant_type: 'authorization_code' },
      refresh_params: { grant_type: 'refresh_token' },
      default_scopes: ['contacts'],
      proxy,
    },
    'demo-key': {
      ...common,
      display_name: 'Demo provider (API key)',
      auth_mode: 'API_KEY',
      credentials: {
        apiKey: {
          type: 'string',
          title: 'API key',
          description: `The key is "${demoApiKey}".`,
          example: demoApiKey,
          secret: true,
        },
      },
      proxy: { ...proxy, headers: { authorization: 'Bearer ${apiKey}' } },
    },
  };
  return demoNames.map((name) => {
    // The schema's output has no undefined values; its type cannot say so.
    return { name, ...definitionSchema.parse(byName[name]) } as Provider;
  });
}
