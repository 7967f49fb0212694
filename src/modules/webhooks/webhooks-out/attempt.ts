import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import { HttpFailure, mayPass, type HttpClient } from '#ports/http-client.ts';

/** Limit up to which response bodies are read and discarded. */
const answerBytesMax = 64 * 1024;
const redirectsMax = 5;

/** The outcome of an attempt. `status` is null without a response. */
export interface AttemptResult {
  readonly isDelivered: boolean;
  readonly isRetryable: boolean;
  /** Whether the endpoint is away or overloaded: those failures open its circuit. */
  readonly isOutage: boolean;
  /** The wait that the response asks for; null: none. */
  readonly retryAfterMs: number | null;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly latencyMs: number;
}

/**
 * Besides 5xx: a receiver that is deployed, or whose key is changed, refuses for a while (Standard Webhooks, "Deliverability and
 * reliability"). 410 says that the endpoint wants no more.
 */
const passingStatuses: ReadonlySet<number> = new Set([401, 403, 404, 408, 409, 425, 429]);

/** Sends the bytes once. User and password of the address travel as Basic. Never throws. */
export async function attemptDelivery(
  http: HttpClient,
  target: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  },
  now: Instant,
  signal: AbortSignal,
): Promise<AttemptResult> {
  const begin = performance.now();
  const latency = () => Math.round(performance.now() - begin);
  try {
    const { url, authorization } = withoutUser(new URL(target.url));
    const { status, headers } = await http.request({
      method: 'POST',
      url,
      headers: { ...target.headers, ...authorization },
      body: target.body,
      timeoutMs: limits.webhookTimeoutMs,
      maxBytes: answerBytesMax,
      dropsBody: true,
      redirectsMax,
      signal,
    });
    const isDelivered = status >= 200 && status < 300;
    return {
      isDelivered,
      isRetryable: status >= 500 || passingStatuses.has(status),
      isOutage: status >= 500 || status === 429,
      retryAfterMs: untilRetry(headers['retry-after'], now),
      status,
      errorCode: null,
      latencyMs: latency(),
    };
  } catch (error) {
    const errorCode = codeOf(error);
    const isRetryable = mayPass(errorCode);
    return {
      isDelivered: false,
      isRetryable,
      isOutage: isRetryable,
      retryAfterMs: null,
      status: null,
      errorCode,
      latencyMs: latency(),
    };
  }
}

/** Wait before the next attempt: that of the schedule or a longer `Retry-After`. Null when the schedule has no other attempt. */
export function retryWaitMs(
  result: AttemptResult,
  attempt: number,
  waitsMs: readonly number[],
): number | null {
  if (result.isDelivered || !result.isRetryable) return null;
  const waitMs = waitsMs[attempt - 1];
  return waitMs === undefined ? null : Math.max(waitMs, result.retryAfterMs ?? 0);
}

/** Seconds or a date (RFC 9110 section 10.2.3); null for anything else, and for times that have passed. */
function untilRetry(header: string | undefined, now: Instant): number | null {
  const text = header?.trim() ?? '';
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return ms > 0 ? Math.min(ms, limits.webhookRetryAfterMaxMs) : null;
}

function withoutUser(address: URL): {
  readonly url: URL;
  readonly authorization: { readonly authorization?: string };
} {
  const { username, password } = address;
  if (username === '' && password === '') return { url: address, authorization: {} };
  const url = new URL(address);
  url.username = '';
  url.password = '';
  const user = `${decoded(username)}:${decoded(password)}`;
  const authorization = `Basic ${Buffer.from(user).toString('base64')}`;
  return { url, authorization: { authorization } };
}

/** A stray `%` stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function codeOf(error: unknown): string {
  if (error instanceof HttpFailure || error instanceof GatewayError) return error.code;
  return error instanceof TypeError ? 'ERR_INVALID_URL' : 'ERR_UNKNOWN';
}
