import { describe, expect, it } from 'vitest';
import { authEventOf } from '#modules/webhooks/webhooks-out/auth-webhooks.ts';

type Change = Parameters<typeof authEventOf>[0];
const changed = (more: Partial<Change>): Change => ({
  action: 'refresh_failed',
  auth_mode: 'API_KEY',
  attempt: 1,
  error_code: null,
  provider_status: null,
  recovers: false,
  ...more,
});

describe('the payload about a key that was tried', () => {
  it('is a failed refresh while the provider refuses it', () => {
    const refused = { error_code: 'connection_test_failed', provider_status: 401 };
    expect(authEventOf(changed(refused))).toEqual({
      operation: 'refresh',
      error: {
        type: 'connection_test_failed',
        description: 'The provider refused the credentials (401).',
      },
    });
  });

  it('is a refresh that went well once it is taken again', () => {
    const taken = { action: 'tested', recovers: true };
    expect(authEventOf(changed(taken))).toEqual({ operation: 'refresh', error: null });
  });
});
