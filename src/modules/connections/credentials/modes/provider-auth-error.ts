import { GatewayError, type ErrorCode } from '../../../../kernel/errors.ts';
import type { Provider } from '../../providers/definition.ts';

export interface ProviderAuthFailure {
  /** What a caller is told. */
  readonly code: ErrorCode;
  /** Names the provider and what it said; never a secret. */
  readonly message: string;
  /** True when asking again cannot help: the provider refused what was presented. */
  readonly isDefinitive: boolean;
  /** Null when no answer came. */
  readonly providerStatus: number | null;
  /** The provider's own code, such as `invalid_grant` (RFC 6749 section 5.2); null when it gave none. */
  readonly providerCode: string | null;
}

/** The provider gave no credentials. */
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

/** A success that lacks what was asked for, such as `access token`: asking again may help. */
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
