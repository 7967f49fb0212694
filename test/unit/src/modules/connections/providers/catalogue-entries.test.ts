import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#kernel/stable-json.ts';
import { buildProviderRequest } from '#modules/connections/providers/inject.ts';
import { builtInCatalogue } from '#test/support/worlds/catalogue.ts';

const catalogue = builtInCatalogue();
const providers = catalogue.all();

const headersOf = (
  name: string,
  credentials: JsonObject,
  connectionConfig: JsonObject = {},
): Record<string, string> =>
  buildProviderRequest({
    provider: catalogue.find(name)!,
    connection: { credentials, connectionConfig, metadata: {} },
    integration: { clientId: 'client', clientSecret: 'secret' },
    now: 0,
    method: 'GET',
    endpoint: '/things',
    isEndpointTemplate: false,
  }).headers;

describe('the entries', () => {
  it('look for a connection first under a name of their own', () => {
    const camelCase = (name: string) =>
      name.replace(/-[a-z]/g, (part) => part.slice(1).toUpperCase());
    const products = providers.map(({ name }) => name).filter((name) => name.includes('-'));
    const foreign = providers.flatMap(({ name, webhook_routing: rules }) => {
      const property = rules?.connection?.[0]?.property.replace(/^metadata\./, '') ?? '';
      const other = products.find((product) => property.startsWith(camelCase(product)));
      return other === undefined || other === name ? [] : [`${name}: ${property}`];
    });
    expect(foreign).toEqual([]);
  });
});

describe('a call to', () => {
  it('Etsy has the keystring and the shared secret', () => {
    const headers = headersOf('etsy', { type: 'OAUTH2', access_token: 't' });
    expect(headers).toMatchObject({ 'x-api-key': 'client:secret', authorization: 'Bearer t' });
  });

  it('Datadog has the application key where the connection has one', () => {
    const credentials = { type: 'API_KEY', apiKey: 'k' };
    const config = { site: 'datadoghq.com' };
    const headers = headersOf('datadog', credentials, { ...config, applicationKey: 'a' });
    expect(headers).toMatchObject({ 'dd-api-key': 'k', 'dd-application-key': 'a' });
    expect(headersOf('datadog', credentials, config)).not.toHaveProperty('dd-application-key');
  });

  it('Google Ads has the manager account and the developer token where the connection has them', () => {
    const credentials = { type: 'OAUTH2', access_token: 't' };
    const config = { developer_token: 'd', login_customer_id: '1234567890' };
    expect(headersOf('google-ads', credentials, config)).toMatchObject({
      'developer-token': 'd',
      'login-customer-id': '1234567890',
    });
    const plain = Object.keys(headersOf('google-ads', credentials));
    expect(plain).not.toContain('developer-token');
    expect(plain).not.toContain('login-customer-id');
  });
});
