/**
 * Authenticated encryption: AES-256-GCM, a random 96-bit nonce per call. `context` is the associated
 * data; opening with another context fails.
 */
export interface Cipher {
  seal(plain: Uint8Array, context: string): Buffer;
  /** @throws GatewayError `invalid_credentials` when the bytes or the context were changed. */
  open(sealed: Uint8Array, context: string): Buffer;
}
