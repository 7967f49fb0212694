import { isOutageStatus } from '../../connections/rules.ts';

/**
 * Codes with which token endpoints refuse a refresh token or a grant for good: RFC 6749 section 5.2, and the providers'
 * own (docs/reference/auth-modes.md#refusals).
 */
const grantCodes = new Set([
  'invalid_grant',
  'invalid_refresh_token', // Slack, https://docs.slack.dev/reference/methods/oauth.v2.access
  'token_expired', // Slack
  'token_revoked', // Slack
  'account_inactive', // Slack
  'bad_refresh_token', // GitHub, https://docs.github.com/apps/creating-github-apps
  'bad_verification_code', // GitHub
  'BAD_REFRESH_TOKEN', // HubSpot, https://developers.hubspot.com/docs/api/oauth/tokens
  'invalid_token', // RFC 6750 section 3.1
  'interaction_required', // Microsoft, OpenID Connect Core section 3.1.2.6
  'consent_required', // Microsoft
  'invalid_login', // login calls of TWO_STEP
  'invalid_login_credentials',
]);

/** Codes that refuse the client of the integration. */
const clientCodes = new Set([
  'invalid_client',
  'unauthorized_client',
  'invalid_client_id', // Slack
  'bad_client_secret', // Slack
  'incorrect_client_credentials', // GitHub
]);

export interface TokenRefusal {
  readonly status: number;
  readonly code: string | null;
  /** JSON or a form: not the page of a proxy in between. */
  readonly isReadable: boolean;
}

/** What a token endpoint refused: the grant, the client, or nothing that is known to stay. */
export function refusedBy({ status, code, isReadable }: TokenRefusal): 'grant' | 'client' | null {
  if (isOutageStatus(status)) return null;
  if (code !== null && grantCodes.has(code)) return 'grant';
  if (code !== null && clientCodes.has(code)) return 'client';
  // 401 is a client, or a login, that is not known (RFC 6749 section 5.2).
  return status === 401 && isReadable ? 'client' : null;
}
