import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet } from 'jose';
import { GatewayError } from '#kernel/errors.ts';
import type { SignatureRule } from '#modules/connections/providers/webhook-rules.ts';

/** The expected claims of a token. */
export interface TokenContext {
  /** The address of the webhook, the audience of the token. */
  address(): string;
  /** Seconds since the epoch. */
  readonly now: number;
  /**
   * The public keys at the URL;
   * @param isFresh refetches the keys.
   * @throws GatewayError `webhook_missing_secret`
   */
  publicKeys(url: string, isFresh: boolean): Promise<JSONWebKeySet>;
}

/**
 * Verifies the token of `Authorization: Bearer` with the keys of its issuer. A missing token is accepted if the rule
 * does not require one.
 * @throws GatewayError `webhook_missing_token`, `webhook_invalid_signature`
 */
export async function verifyToken(
  { jwt, is_required: isRequired }: SignatureRule,
  input: string | undefined,
  context: TokenContext,
): Promise<void> {
  if (input === undefined) {
    if (!isRequired) return;
    const message = 'The header authorization is missing.';
    throw new GatewayError('webhook_missing_token', { message });
  }
  const token = /^Bearer (\S+)$/i.exec(input)?.[1];
  if (token === undefined || jwt === undefined) throw invalid('The token is not a bearer token.');
  const address = context.address();
  const check = async (isFresh: boolean): Promise<void> => {
    const keys = createLocalJWKSet(await context.publicKeys(jwt.keys_url, isFresh));
    await jwtVerify(token, keys, {
      algorithms: ['RS256'],
      issuer: [...jwt.issuers],
      // With a slash it is the same address (docs/reference/http.md#paths).
      audience: [address, `${address}/`],
      currentDate: new Date(context.now * 1000),
    });
  };
  try {
    // Keys rotate: an unknown one may be newer.
    await check(false).catch((error: unknown) => {
      if (error instanceof errors.JWKSNoMatchingKey) return check(true);
      throw error;
    });
  } catch (error) {
    if (error instanceof errors.JOSEError)
      throw invalid(`The token is not valid: ${error.message}.`);
    throw error;
  }
}

const invalid = (message: string): GatewayError =>
  new GatewayError('webhook_invalid_signature', { message });
