import type { Metrics } from '#ports/metrics.ts';
import type { OperationOutcome } from '#ports/operation-log.ts';

const kinds: Readonly<Record<string, string>> = {
  'sync:run': 'sync',
  'action:run': 'action',
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
