import { GatewayError, type ErrorCode } from '#kernel/errors.ts';
import type { Provider } from '../../providers/definition.ts';

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
  /** Its error in the callback (RFC 6749 section 4.1.2.1), without secrets. */
  readonly callbackError?: CallbackError;
}

/** Text of the provider, for people: cleaned, shortened and masked. */
export interface CallbackError {
  readonly code: string | null;
  readonly description: string | null;
  /** An http address that explains the error. */
  readonly uri: string | null;
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
