import type { Logger } from 'pino';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock, Instant } from '#kernel/time.ts';
import type { Coordination, CounterValue } from '#ports/coordination.ts';

const windowMs = 60_000;

/** Counts one call in the caller's window of 60 s and returns what is left. */
export interface Quota {
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: GatewayError | null;
}

/** The counter behind the limit. */
export interface RateLimiter {
  readonly coordination: Pick<Coordination, 'count'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Pick<Logger, 'warn'>;
}

const unlimited: Quota = { headers: {}, refusal: null };

/**
 * @param who the counted party: a key, the address of a caller without one, or the subject of the call
 * @param cost 1, or more for calls without a valid key
 * @param limit calls per window; 0 = unlimited. A limiter that fails lets the call through
 *   (docs/reference/http.md#rate-limit).
 */
export function takeQuota(
  limiter: RateLimiter,
  who: string,
  { cost, limit }: { readonly cost: number; readonly limit: number },
): Quota | Promise<Quota> {
  if (limit === 0) return unlimited;
  const now = limiter.clock.now();
  const counted = limiter.coordination.count(`rate:${who}`, { windowMs, by: cost });
  if (!(counted instanceof Promise)) return quotaOf(counted, limit, now);
  return counted.then(
    (count) => quotaOf(count, limit, now),
    (error: unknown) => {
      limiter.logger.warn({ err: error }, 'rate limiter failed');
      return unlimited;
    },
  );
}

function quotaOf({ value, resetMs }: CounterValue, limit: number, now: Instant): Quota {
  const headers = {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(Math.max(0, limit - value)),
    'x-ratelimit-reset': String(Math.ceil((now + resetMs) / 1000)),
  };
  const retryAfterS = Math.ceil(resetMs / 1000);
  const refusal = value > limit ? new GatewayError('too_many_request', { retryAfterS }) : null;
  return { headers, refusal };
}
