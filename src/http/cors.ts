import type { Context } from 'koa';

/** Any page may call the API: keys in a header protect it, never cookies. */
const requestHeaders = [
  'Authorization',
  'Content-Type',
  'Accept',
  'Origin',
  'X-Requested-With',
  'Idempotency-Key',
  'Svc-Activity-Log-Id',
  'Svc-Is-Dry-Run',
  'Svc-Is-Sync',
  'Provider-Config-Key',
  'Connection-Id',
  'Sentry-Trace',
  'Baggage',
].join(', ');
const answerHeaders = [
  'Authorization',
  'Etag',
  'Content-Type',
  'Content-Length',
  'Retry-After',
  'X-Request-Id',
  'X-Svc-Signature',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ');
const maxAgeS = 600;

/** On every response (docs/reference/http.md#cors). */
export const corsHeaders: Readonly<Record<string, string>> = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': answerHeaders,
};

/** Headers of the response to a preflight. */
export function preflightHeaders(methods: readonly string[]): Record<string, string> {
  return {
    allow: methods.join(', '),
    'access-control-allow-methods': methods.join(', '),
    'access-control-allow-headers': requestHeaders,
    'access-control-max-age': String(maxAgeS),
  };
}

export function setPreflight(context: Context, methods: readonly string[]): void {
  context.status = 204;
  context.set(preflightHeaders(methods));
}

/** Headers of every response: browsers must not interpret a caller's data as a script. */
export const headersOfEveryAnswer: Readonly<Record<string, string>> = {
  ...corsHeaders,
  'x-content-type-options': 'nosniff',
};
