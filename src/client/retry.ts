import { ApiError, refusal } from './api-error.ts';
import { pause } from './pause.ts';

/** A response with its whole body. */
export interface WholeResponse {
  readonly response: Response;
  readonly text: string;
}

interface RetryOptions {
  /** Attempts after the first one. */
  readonly retries: number;
  readonly signal: AbortSignal;
}

/** Bound of the first wait, in ms; each further one is twice as long. */
const firstWaitMs = 500;
const waitMaxMs = 8_000;
/** A service that asks for a longer wait gets no further attempt: the caller decides. */
const retryAfterMaxMs = 60_000;

/**
 * Repeats an attempt that failed for a time: without a response, or with one that asks for it. Waits as long as
 * `Retry-After` says, otherwise a random time up to a bound that doubles, so that clients do not come back together.
 * @returns the last response, whatever its status
 * @throws ApiError of the last attempt without a response
 */
export async function withRetries(
  attempt: () => Promise<WholeResponse>,
  { retries, signal }: RetryOptions,
): Promise<WholeResponse> {
  for (let failed = 0; ; failed += 1) {
    const outcome = await attempt().catch((error: unknown) => {
      if (error instanceof ApiError) return error;
      throw error;
    });
    const wait = failed < retries && !signal.aborted ? waitAfter(outcome, failed) : null;
    if (wait !== null) await pause(wait, signal);
    else if (outcome instanceof ApiError) throw outcome;
    else return outcome;
  }
}

/** In ms; null when another attempt would not help. */
function waitAfter(outcome: WholeResponse | ApiError, failed: number): number | null {
  const backOff = Math.random() * Math.min(waitMaxMs, firstWaitMs * 2 ** failed);
  if (outcome instanceof ApiError) return backOff;
  const { response, text } = outcome;
  if (!isTemporary(response.status, text)) return null;
  const wanted = retryAfter(response.headers.get('retry-after'));
  if (wanted === null) return backOff;
  return wanted > retryAfterMaxMs ? null : wanted;
}

/** Of what a service answers before it acts, and of its own failures. */
function isTemporary(status: number, text: string): boolean {
  if (status === 501 || (status < 500 && ![408, 425, 429].includes(status))) return false;
  // Its idempotency key has this answer for good (docs/reference/http.md#idempotency-keys).
  return refusal(status, text).code !== 'run_interrupted';
}

/** In ms; null when the header is missing or neither seconds nor a time. */
function retryAfter(value: string | null): number | null {
  if (value === null) return null;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const at = Date.parse(value);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
