import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { HttpFailure, type HttpClient } from '#ports/http-client.ts';

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
