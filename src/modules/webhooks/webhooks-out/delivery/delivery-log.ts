import type { OperationLogs } from '#ports/operation-log.ts';
import type { WebhookOut } from '../events.ts';
import { operationOf, type SentAttempt } from './send.ts';

/** The state of a delivery after the entry; `retry` = another attempt follows. */
export type Outcome = 'delivered' | 'retry' | 'failed' | 'cancelled';

const states = {
  delivered: 'success',
  retry: 'running',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

/**
 * The operation of a delivery in the log that users read: one entry for each attempt, of which the last ends the
 * operation. It contains only the origin of the address, because the rest may contain a secret.
 * @param tookMs since its first attempt here
 */
export function noteAttempt(
  logs: Pick<OperationLogs, 'note'>,
  created: WebhookOut,
  {
    attempt,
    sent,
    outcome,
    tookMs,
  }: {
    readonly attempt: number;
    /** Null when nothing was sent. */
    readonly sent: SentAttempt | null;
    readonly outcome: Outcome;
    readonly tookMs: number;
  },
): void {
  const { message_id, endpoint_id, integration, connection_id, run_id } = created;
  const operation = {
    operationId: `${message_id}.${endpoint_id}`,
    operationType: `webhook:${sent?.operation ?? operationOf(created, null)}`,
    environmentUid: created.environment_id,
    integration: integration ?? '',
    connectionId: connection_id ?? '',
    ...(run_id === null ? {} : { runId: run_id }),
  };
  const contextJson = JSON.stringify({
    ...factsOf(sent),
    attempts: attempt,
    endpoint: endpoint_id,
  });
  logs.note(operation, {
    state: states[outcome],
    text: attemptText(outcome, attempt),
    contextJson,
    tookMs,
  });
}

function factsOf(sent: SentAttempt | null): Readonly<Record<string, string | number | null>> {
  if (sent === null) return {};
  const { status, errorCode: code, latencyMs: durationMs } = sent.result;
  return { method: 'POST', url: sent.origin, status, code, durationMs };
}

function attemptText(outcome: Outcome, attempt: number): string {
  switch (outcome) {
    case 'delivered':
      return 'The webhook was delivered';
    case 'retry':
      return `Attempt ${attempt} failed; another one follows`;
    case 'failed':
      return `The webhook was not delivered after ${attempt} attempts`;
    case 'cancelled':
      return 'No URL is configured any more';
  }
}
