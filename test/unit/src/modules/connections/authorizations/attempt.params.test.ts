import { describe, expect, it } from 'vitest';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { checkedParams } from '#modules/connections/authorizations/attempt.ts';
import { aProvider } from '#test/support/worlds/control.ts';

const field = (more: object = {}) => ({
  type: 'string' as const,
  title: 'T',
  description: 'D',
  ...more,
});
const provider = aProvider({
  connection_config: {
    subdomain: field({ pattern: '^[a-z]+$' }),
    region: field({ enum: ['eu', 'us'], default_value: 'eu' }),
    account: field({ automated: true }),
    note: field({ optional: true }),
    plan: field({ visible_when: { field: 'region', equals: 'us' } }),
  },
});
const issuesOf = (params: Record<string, string>, known: JsonObject = {}): unknown => {
  try {
    return checkedParams(provider, params, known);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return [error.code, ...(error.details.errors ?? []).map(({ path }) => path.join('.'))];
  }
};

describe('the configuration that a person gives', () => {
  it.each([
    [{ subdomain: 'acme' }, {}, { subdomain: 'acme', region: 'eu' }],
    [{ subdomain: 'acme', more: 'x' }, {}, { subdomain: 'acme', region: 'eu', more: 'x' }],
    [{ subdomain: 'acme', note: '' }, {}, { subdomain: 'acme', region: 'eu' }],
    [{ subdomain: 'acme', webhook_url: 'https://x' }, {}, { subdomain: 'acme', region: 'eu' }],
    // What is configured already need not be given again.
    [{}, { subdomain: 'acme', region: 'us', plan: 'pro' }, {}],
    [
      { subdomain: 'acme', region: 'us', plan: 'pro' },
      {},
      { subdomain: 'acme', region: 'us', plan: 'pro' },
    ],
    [{}, {}, ['invalid_query_params', 'params.subdomain']],
    [{ subdomain: '' }, {}, ['invalid_query_params', 'params.subdomain']],
    [{ subdomain: 'A/..' }, {}, ['invalid_query_params', 'params.subdomain']],
    [
      { subdomain: 'A', region: 'mars', account: 'x' },
      {},
      ['invalid_query_params', 'params.subdomain', 'params.region', 'params.account'],
    ],
    [{ subdomain: 'acme', region: 'us' }, {}, ['invalid_query_params', 'params.plan']],
  ])('%j over %j comes to %j', (params, known, expected) => {
    expect(issuesOf(params as unknown as Record<string, string>, known as JsonObject)).toEqual(
      expected,
    );
  });
});
