import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { wants } from '#modules/webhooks/webhook-endpoints/queries.ts';
import type { WebhookEndpoint } from '#modules/webhooks/webhook-endpoints/webhook-endpoint.ts';

const endpoint = (more: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: 'e1',
  environmentUid: 'env',
  displayName: '',
  url: 'sealed' as Sealed<string>,
  kinds: null,
  integrationKey: null,
  connectionId: null,
  isEnabled: true,
  createdAt: 0,
  updatedAt: 0,
  ...more,
});
const sync = { kind: 'sync', integrationKey: 'crm', connectionId: 'acme' } as const;

describe('a webhook endpoint', () => {
  it('takes everything unless it names what it wants', () => {
    expect(wants(endpoint(), sync)).toBe(true);
    expect(wants(endpoint({ isEnabled: false }), sync)).toBe(false);
  });

  it('takes the kinds that it names', () => {
    expect(wants(endpoint({ kinds: ['auth', 'sync'] }), sync)).toBe(true);
    expect(wants(endpoint({ kinds: ['auth'] }), sync)).toBe(false);
  });

  it('takes what is about its integration, or its connection of it', () => {
    const of = (integrationKey: string, connectionId: string | null) =>
      wants(endpoint({ integrationKey, connectionId }), sync);
    expect([of('crm', null), of('crm', 'acme'), of('crm', 'other'), of('erp', null)]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    const unattributed = { ...sync, kind: 'forward', connectionId: null } as const;
    expect(wants(endpoint({ integrationKey: 'crm', connectionId: 'acme' }), unattributed)).toBe(
      false,
    );
  });
});
