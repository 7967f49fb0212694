import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import type { Provider } from '../../providers/definition.ts';
import type { ProviderError } from './provider-error.ts';

export interface ProviderAuthFailure {
  /** The code that a caller gets. */
  readonly code: ErrorCode;
  /** Names the provider and its answer; never a secret. */
  readonly message: string;
  /** True when a retry cannot help: the provider refused the credentials. */
  readonly isDefinitive: boolean;
  /** True when it holds even while the present token is valid: what was refused is the grant itself. */
  readonly endsValidToken?: boolean;
  /** Null without a response. */
  readonly providerStatus: number | null;
  /** The provider's own code, such as `invalid_grant` (RFC 6749 section 5.2); null without one. */
  readonly providerCode: string | null;
  /** Its own words in the callback or the response (RFC 6749 sections 4.1.2.1 and 5.2), without secrets. */
  readonly providerError?: ProviderError;
  /** Why a sign-in was refused, and what to do about it. */
  readonly refusal?: Refusal;
}

/** Why a provider refused a sign-in (docs/reference/auth-modes.md#reasons-of-a-refusal). */
export type RefusalReason =
  | 'redirect_mismatch'
  | 'wrong_client'
  | 'flow_not_allowed'
  | 'scope_refused'
  | 'unverified_app'
  | 'access_denied'
  | 'code_expired'
  | 'provider_unavailable';

export interface Refusal {
  readonly reason: RefusalReason;
  /** One imperative sentence for the developer of the application. */
  readonly fix: string;
}

/** The provider issued no credentials. */
export class ProviderAuthError extends Error {
  override readonly name = 'ProviderAuthError';
  readonly failure: ProviderAuthFailure;

  constructor(failure: ProviderAuthFailure, options?: ErrorOptions) {
    super(failure.message, options);
    this.failure = failure;
  }

  toGatewayError(): GatewayError {
    const { code, message } = this.failure;
    return new GatewayError(code, { message }, { cause: this });
  }
}

/** A successful response without the expected value, such as `access token`: a retry may help. */
export function answerWithout(
  what: string,
  { name }: Provider,
  code: ErrorCode,
): ProviderAuthError {
  return new ProviderAuthError({
    code,
    message: `The response of the provider "${name}" contains no ${what}.`,
    isDefinitive: false,
    providerStatus: 200,
    providerCode: null,
  });
}
