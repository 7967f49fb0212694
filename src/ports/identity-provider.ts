/** What a sign-in keeps from its start to its return, so that nobody else can finish it. */
export interface SignInChecks {
  /** Of PKCE. */
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
}

/** What the provider says of a person. */
export interface IdentityClaims {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string | null;
  /** Null: the provider does not say. */
  readonly isEmailVerified: boolean | null;
  readonly name: string | null;
  readonly groups: readonly string[];
}

/** An OpenID Connect provider, where people sign in. */
export interface IdentityProvider extends AsyncDisposable {
  /** For people. */
  readonly name: string;
  readonly issuer: string;
  /**
   * The address at the provider where a sign-in begins.
   * @throws IdentityFailure
   */
  begin(callbackUrl: string): Promise<{ readonly url: string; readonly checks: SignInChecks }>;
  /**
   * Exchanges the code of the return for what the provider says, after every check of the response and its tokens.
   * @param returned the callback URL with the parameters of the provider
   * @throws IdentityFailure
   */
  finish(returned: URL, checks: SignInChecks): Promise<IdentityClaims>;
}

/** Why a sign-in did not succeed. The message is for people, and has no secret. */
export class IdentityFailure extends Error {
  override readonly name = 'IdentityFailure';
  readonly kind: 'refused' | 'unavailable' | 'invalid';
  constructor(kind: IdentityFailure['kind'], message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}
