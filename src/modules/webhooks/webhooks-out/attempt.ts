import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { HttpFailure, mayPass, type HttpClient } from '#ports/http-client.ts';

/** Limit up to which response bodies are read and discarded. */
const answerBytesMax = 64 * 1024;
const redirectsMax = 5;

/** The outcome of an attempt. `status` is null without a response. */
export interface AttemptResult {
  readonly isDelivered: boolean;
  readonly isRetryable: boolean;
  readonly status: number | null;
  readonly errorCode: string | null;
  readonly latencyMs: number;
}

/** Sends the bytes once. Never throws. */
export async function attemptDelivery(
  http: HttpClient,
  target: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: Uint8Array;
  },
  signal: AbortSignal,
): Promise<AttemptResult> {
  const begin = performance.now();
  const latency = () => Math.round(performance.now() - begin);
  try {
    const { status } = await http.request({
      method: 'POST',
      url: new URL(target.url),
      headers: target.headers,
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
      isRetryable: status >= 500,
      status,
      errorCode: null,
      latencyMs: latency(),
    };
  } catch (error) {
    const errorCode = codeOf(error);
    const isRetryable = mayPass(errorCode);
    return { isDelivered: false, isRetryable, status: null, errorCode, latencyMs: latency() };
  }
}

/** Wait before the next attempt in the schedule, or null when there is none. */
export function retryWaitMs(
  result: AttemptResult,
  attempt: number,
  waitsMs: readonly number[],
): number | null {
  if (result.isDelivered || !result.isRetryable) return null;
  return waitsMs[attempt - 1] ?? null;
}

function codeOf(error: unknown): string {
  if (error instanceof HttpFailure || error instanceof GatewayError) return error.code;
  return error instanceof TypeError ? 'ERR_INVALID_URL' : 'ERR_UNKNOWN';
}
