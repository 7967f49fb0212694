import { expect, it } from 'vitest';
import { refreshFixOf } from '#modules/connections/credentials/modes/refusal.ts';
import { providerOf } from '#test/support/worlds/authorizing.ts';

const provider = providerOf('OAUTH2', { name: 'beacon', display_name: 'Beacon' });

it.each([
  ['a client that is unknown', 401, 'invalid_client', /Copy client id and secret .* at Beacon/],
  ['a scope that the app lost', 400, 'invalid_scope', /Allow the scopes/],
  ['a provider with a problem of its own', 503, null, /Try again in some minutes/],
  // A new sign-in alone helps.
  ['a grant that was revoked', 400, 'invalid_grant', null],
  ['a redirect URI that no refresh has', 400, 'redirect_uri_mismatch', null],
])('a refresh that was refused says what to do about %s', (_what, status, providerCode, fix) => {
  const failure = {
    code: 'invalid_credentials',
    message: 'refused',
    isDefinitive: true,
    providerStatus: status,
    providerCode,
  } as const;
  const said = refreshFixOf(failure, provider);
  if (fix === null) expect(said).toBeNull();
  else expect(said).toMatch(fix);
});
