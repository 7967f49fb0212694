import { describe, expect, it } from 'vitest';
import { refusalOf } from '#modules/connections/credentials/modes/refusal.ts';
import { aProvider } from '#test/support/worlds/control.ts';

const provider = aProvider({ auth_mode: 'OAUTH2', display_name: 'CRM' });

const refusedWith = (code: string | null, description: string | null, status: number | null) =>
  refusalOf(
    {
      code: 'invalid_callback',
      message: '',
      isDefinitive: true,
      providerStatus: status,
      providerCode: code,
      providerError: { code, description, uri: null },
    },
    provider,
    'https://gateway.example',
  );

describe('the reason of a refusal', () => {
  it.each([
    ['redirect_uri_mismatch', null, null, 'redirect_mismatch'],
    ['invalid_request', "The 'redirect_uri' parameter does not match", 400, 'redirect_mismatch'],
    ['invalid_grant', 'Mismatching redirect URI', 400, 'redirect_mismatch'],
    ['invalid_client', 'AADSTS7000215: Invalid client secret provided.', 401, 'wrong_client'],
    ['bad_client_secret', null, 200, 'wrong_client'],
    [null, null, 401, 'wrong_client'],
    ['unauthorized_client', null, 400, 'flow_not_allowed'],
    ['invalid_scope', 'Unknown scope: everything', null, 'scope_refused'],
    ['access_denied', 'The app has no access to the scope crm.write', null, 'scope_refused'],
    ['access_denied', 'The app is not verified by the provider', null, 'unverified_app'],
    ['consent_required', 'AADSTS65001: The user or administrator', null, 'unverified_app'],
    ['access_denied', 'The user refused', null, 'access_denied'],
    ['invalid_grant', 'Code was already redeemed', 400, 'code_expired'],
    ['server_error', null, null, 'provider_unavailable'],
    [null, null, 503, 'provider_unavailable'],
  ])('%s, %s, %s is %s', (code, description, status, reason) => {
    expect(refusedWith(code, description, status)?.reason).toBe(reason);
  });

  it.each([
    ['invalid_request', 'Something is missing', 400],
    ['constructor', null, null],
  ])('is not guessed for %s, %s', (code, description, status) => {
    expect(refusedWith(code, description, status)).toBeNull();
  });

  it('comes with a fix, which names the redirect URI to enter', () => {
    expect(refusedWith('redirect_uri_mismatch', null, null)?.fix).toBe(
      'Enter https://gateway.example/oauth/callback as the redirect URI of the app at CRM, exactly so.',
    );
  });
});
