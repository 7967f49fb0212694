import { callbackUrlsOf } from '../../providers/callback-url.ts';
import type { Provider } from '../../providers/definition.ts';
import type { ProviderAuthFailure, Refusal, RefusalReason } from './provider-auth-error.ts';

interface ReasonRule {
  readonly reason: RefusalReason;
  /** Codes of RFC 6749 and of providers. */
  readonly codes: readonly string[];
  /** Words of a description, where the code is another. */
  readonly words: RegExp | null;
}

/** The first that fits counts: a description says more than a code that providers use for everything. */
const rules: readonly ReasonRule[] = [
  {
    reason: 'redirect_mismatch',
    codes: ['redirect_uri_mismatch', 'bad_redirect_uri', 'invalid_redirect_uri'],
    words: /redirect[ _-]?ur[il]|callback[ _-]?url|reply (?:url|address)|AADSTS50011\b/i,
  },
  {
    reason: 'unverified_app',
    codes: ['admin_policy_enforced', 'org_internal', 'app_not_verified', 'consent_required'],
    words:
      /verif(?:ied|ication)|not (?:yet )?(?:been )?(?:approved|published|reviewed)|approved the app|test(?:er| user)|admin(?:istrator)? (?:approval|consent)|AADSTS(?:65001|9009\d|900941)\b/i,
  },
  {
    reason: 'scope_refused',
    codes: ['invalid_scope', 'insufficient_scope', 'unauthorized_scope_error'],
    words: /\bscopes?\b/i,
  },
  {
    reason: 'flow_not_allowed',
    codes: ['unauthorized_client', 'unsupported_response_type', 'unsupported_grant_type'],
    words: null,
  },
  {
    reason: 'wrong_client',
    codes: [
      'invalid_client',
      'invalid_client_id',
      'bad_client_secret',
      'incorrect_client_credentials',
    ],
    words: /client[ _-]?(?:id|secret|authentication|credentials)|AADSTS7000\d+\b/i,
  },
  {
    reason: 'access_denied',
    codes: ['access_denied', 'user_denied', 'user_cancelled_login', 'user_cancelled_authorize'],
    words: null,
  },
  {
    reason: 'code_expired',
    codes: ['invalid_grant', 'invalid_code', 'bad_verification_code', 'code_already_used'],
    words: null,
  },
  {
    reason: 'provider_unavailable',
    codes: ['temporarily_unavailable', 'server_error'],
    words: null,
  },
];

/** Why the provider refused, and what to do about it; null where its answer says nothing that is known. */
export function refusalOf(
  failure: ProviderAuthFailure,
  provider: Provider,
  publicUrl: string,
): Refusal | null {
  const reason = reasonOf(failure);
  return reason === null ? null : { reason, fix: fixOf(reason, provider, publicUrl) };
}

/** What to do about a refresh that the provider refused; null where only another grant helps. */
export function refreshFixOf(failure: ProviderAuthFailure, provider: Provider): string | null {
  const reason = reasonOf(failure);
  return reason !== null && refreshReasons.has(reason) ? fixOf(reason, provider, '') : null;
}

/** Others are about a sign-in. */
const refreshReasons = new Set<RefusalReason>([
  'wrong_client',
  'unverified_app',
  'scope_refused',
  'provider_unavailable',
]);

function reasonOf({ providerStatus: status, providerCode, providerError }: ProviderAuthFailure) {
  const { code = null, description = null } = providerError ?? {};
  const named = code ?? providerCode;
  const found =
    rules.find(({ words }) => description !== null && words?.test(description) === true) ??
    rules.find(({ codes }) => named !== null && codes.includes(named));
  if (found !== undefined) return found.reason;
  if (status === 401) return 'wrong_client';
  return status !== null && (status >= 500 || status === 429) ? 'provider_unavailable' : null;
}

function fixOf(reason: RefusalReason, provider: Provider, publicUrl: string): string {
  const { display_name: title } = provider;
  const app = `the app at ${title}`;
  switch (reason) {
    case 'redirect_mismatch': {
      const { callbackUrl } = callbackUrlsOf(provider, publicUrl);
      return `Enter ${callbackUrl ?? publicUrl} as the redirect URI of ${app}, exactly so.`;
    }
    case 'unverified_app':
      return `Add the account as a test user of ${app}, have its administrator approve the app, or complete the verification there.`;
    case 'scope_refused':
      return `Allow the scopes of the integration for ${app}, or take those away that it does not have.`;
    case 'flow_not_allowed':
      return `Allow the authorization code grant for ${app}.`;
    case 'wrong_client':
      return `Copy client id and secret of ${app} into the integration once more, or create a new secret there.`;
    case 'access_denied':
      return `Start again, and grant access at ${title}.`;
    case 'code_expired':
      return `Start again, and sign in within a few minutes.`;
    case 'provider_unavailable':
      return `Try again in some minutes: ${title} has a problem of its own.`;
  }
}
