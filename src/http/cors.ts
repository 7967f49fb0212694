import type { Context } from 'koa';

/** Any page may call the API: it is protected by keys in a header, never by cookies. */
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
  'X-Request-Id',
  'X-Svc-Signature',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
].join(', ');
const maxAgeS = 600;

/** Headers of every answer (contract/http.md section 0). */
export function setCors(context: Context): void {
  context.set('access-control-allow-origin', '*');
  context.set('access-control-expose-headers', answerHeaders);
}

export function setPreflight(context: Context, methods: readonly string[]): void {
  context.status = 204;
  context.set('allow', methods.join(', '));
  context.set('access-control-allow-methods', methods.join(', '));
  context.set('access-control-allow-headers', requestHeaders);
  context.set('access-control-max-age', String(maxAgeS));
}
