import { createLocalJWKSet, errors, jwtVerify, type JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type { SignatureRule } from '#modules/connections/providers/webhook-rules.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';

/** The expected claims of a token. */
export interface TokenContext {
  /** The address of the webhook, the audience of the token. */
  readonly address: () => string;
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

const keptMs = 3_600_000;
/** Minimum interval between fetches for an unknown key id, because any sender can name one. */
const freshMs = 60_000;
const timeoutMs = 10_000;
const bytesMax = 256 * 1024;
const keysShape = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

/** The public keys that providers sign tokens with, by the URL at which they publish them. */
export interface ProviderKeys {
  /**
   * @param isFresh refetches the keys.
   * @throws GatewayError `webhook_missing_secret`: the keys are temporarily unavailable
   */
  at(url: string, isFresh: boolean): Promise<JSONWebKeySet>;
}

interface CachedKeys {
  readonly keys: Promise<JSONWebKeySet>;
  readonly since: number;
}

export function createProviderKeys(deps: {
  readonly http: HttpClient;
  readonly clock: Clock;
}): ProviderKeys {
  const existing = new Map<string, CachedKeys>();
  return {
    at(url, isFresh) {
      const now = deps.clock.now();
      const found = existing.get(url);
      if (found !== undefined && now - found.since < (isFresh ? freshMs : keptMs))
        return found.keys;
      const keys = fetched(deps.http, url);
      existing.set(url, { keys, since: now });
      keys.catch(() => existing.delete(url));
      return keys;
    },
  };
}

async function fetched(http: HttpClient, url: string): Promise<JSONWebKeySet> {
  try {
    const reply = await http.request({
      method: 'GET',
      url: new URL(url),
      headers: { accept: 'application/json' },
      timeoutMs,
      maxBytes: bytesMax,
    });
    if (reply.status !== 200) throw unavailable();
    return keysShape.parse(JSON.parse(bodyText(reply.body, reply.headers['content-type'])));
  } catch (cause) {
    const isTheirs =
      cause instanceof HttpFailure || cause instanceof SyntaxError || cause instanceof z.ZodError;
    throw isTheirs ? unavailable(cause) : cause;
  }
}

function unavailable(cause?: unknown): GatewayError {
  const message =
    'The public keys of the provider, which verify the token, are temporarily unavailable.';
  return new GatewayError('webhook_missing_secret', { message }, { cause });
}
