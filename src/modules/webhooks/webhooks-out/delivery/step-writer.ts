import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { retrying } from '#kernel/retry.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { WebhookOut } from '../events.ts';
import { operationOf, type SentAttempt } from './send.ts';
import { whenAborted } from './when-aborted.ts';

const batchMax = 1_000;
/** How long a step may still be appended after the end of its work. */
const graceMs = 2_000;

interface QueuedMessage {
  readonly message: PublicMessage;
  readonly partition: number;
  readonly resolve: (offset: number) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends steps of deliveries: steps that arrive during an append form the next batch. */
export class StepWriter {
  readonly #publisher: Publisher;
  readonly #signal: AbortSignal;
  #waiting: QueuedMessage[] = [];
  #isSending = false;

  /** @param signal stops waiting for an unavailable log */
  constructor(publisher: Publisher, signal: AbortSignal) {
    this.#publisher = publisher;
    this.#signal = signal;
  }

  /**
   * Resolves with an offset at or after that of the step when it is appended; waits during an outage of the log, until
   * the signal.
   * @param partition of the message
   */
  async say(message: PublicMessage, partition: number, signal: AbortSignal): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    this.#waiting.push({ message, partition, resolve, reject });
    if (!this.#isSending) void this.#send();
    const giveUp = (): void => {
      setTimeout(() => reject(signal.reason as Error), graceMs).unref();
    };
    const stop = whenAborted(signal, giveUp);
    try {
      return await promise;
    } finally {
      stop();
    }
  }

  async #send(): Promise<void> {
    this.#isSending = true;
    // Collects other steps of this turn of the event loop.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, batchMax);
      try {
        const last = await this.#append(batch);
        for (const { partition, resolve } of batch) resolve(last.get(partition) ?? 0);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.#isSending = false;
  }

  /** The offset of the last message of each partition. */
  async #append(batch: readonly QueuedMessage[]): Promise<ReadonlyMap<number, number>> {
    const messages = batch.map(({ message }) => message);
    const positions = await retrying(() => this.#publisher.publish(messages, 'system'), {
      signal: this.#signal,
    });
    return new Map(
      positions.map(({ partition, offset }) => {
        const count = batch.filter((queued) => queued.partition === partition).length;
        return [partition, offset + count - 1];
      }),
    );
  }
}

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
    operationType: `webhook:${sent?.operation ?? operationOf(created, null)}` as const,
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
