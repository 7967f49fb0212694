import type { AnyRoute } from '#http/define-route.ts';
import { content } from '#http/responses.ts';
import type { Metrics } from '#ports/metrics.ts';
import type { OperationOutcome } from '#ports/operation-log.ts';
import { defineRoute } from '../services.ts';

const kinds: Readonly<Record<string, string>> = {
  'sync:run': 'sync',
  'action:run': 'action',
  'change:run': 'on-change',
  'webhook:incoming': 'webhook',
};

/** Counts an operation of the log as it ends. */
export function countOperation(metrics: Metrics, operationOutcome: OperationOutcome): void {
  const { operationType, state, tookMs, integration, providerStatus } = operationOutcome;
  if (operationType === 'proxy:call') {
    metrics.count('svc_provider_requests_total', [integration, providerStatus ?? 0]);
    return;
  }
  if (operationType === 'auth:refresh_token') {
    metrics.count('svc_credential_refresh_total', [state]);
    return;
  }
  const kind = kinds[operationType] ?? (operationType.startsWith('events:') ? 'on-event' : null);
  // A received webhook is not a run; the runs that it starts are.
  if (kind !== null && operationOutcome.runId === undefined) return;
  if (kind !== null) {
    const status = operationOutcome.isInterrupted ? 'interrupted' : state;
    metrics.count('svc_runs_total', [kind, status]);
    metrics.observe('svc_run_duration_seconds', [kind, status], tookMs / 1000);
    return;
  }
  if (!operationType.startsWith('webhook:')) return;
  // An attempt that is retried.
  metrics.count('svc_webhook_attempts_total', [state === 'running' ? 'failed' : state]);
}

const metrics = defineRoute({
  method: 'GET',
  path: '/metrics',
  credential: 'account',
  scopes: ['account:metrics:read'],
  summary: 'Get the metrics of this process.',
  description: 'In the text format of Prometheus, with the progress of projections and consumers.',
  answers: { 200: content('In the text format of Prometheus.', 'text/plain') },
  errors: [],
  async handle({ services }) {
    const { text, mediaType } = await services.scrape();
    const headers = { 'content-type': mediaType };
    return { status: 200, body: Buffer.from(text), headers };
  },
});

export const metricsRoutes: readonly AnyRoute[] = [metrics];
