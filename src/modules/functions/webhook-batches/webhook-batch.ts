import type { Decider } from '#kernel/decider.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { ActionBorn } from '../actions/events.ts';
import type { JoinedInput } from '../actions/state.ts';
import type { Debounce } from '../functions/function.ts';

/** The run that a batch becomes: that of its newest webhook, with the id of its first. */
export type BatchRun = Omit<ActionBorn, 'joined' | 'input' | 'inputHash'>;

/**
 * Webhooks of one connection that wait for a run of a sync's `onWebhook`. Scope = that of the connection; path
 * [...connection path, sync]. Absent while none waits.
 */
export interface WebhookBatch {
  readonly run: BatchRun;
  readonly payload: Debounce['payload'];
  /** All of them, or the newest one. */
  readonly inputs: readonly JoinedInput[];
  readonly webhooks: number;
  /** Of the inputs. */
  readonly bytes: number;
  readonly firstAt: Instant;
  /** When the run is queued. */
  readonly dueAt: Instant;
}

export type WebhookBatchCommand = { readonly at: Instant } & (
  | {
      readonly type: 'Join';
      readonly run: BatchRun;
      readonly input: JoinedInput;
      readonly bytes: number;
      readonly debounce: Debounce;
    }
  | { readonly type: 'Tick' }
);

/** Events of a batch. */
export type WebhookBatchEvent =
  | {
      readonly type: 'WebhookJoined';
      readonly at: Instant;
      readonly run: BatchRun;
      readonly input: JoinedInput;
      readonly bytes: number;
      readonly payload: Debounce['payload'];
      readonly dueAt: Instant;
    }
  /** Its run is queued. */
  | { readonly type: 'BatchClosed' };

/**
 * The rules of debounced webhooks: a batch is closed when none has joined for some time, or when its first one has waited
 * long enough. So each webhook is in a run that is queued after it.
 */
export const webhookBatch: Decider<WebhookBatch | null, WebhookBatchCommand, WebhookBatchEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Tick') {
      return state === null || command.at < state.dueAt ? [] : [{ type: 'BatchClosed' }];
    }
    return join(command, state);
  },

  evolve(state, event) {
    if (event.type === 'BatchClosed') return null;
    const { at, run, input, bytes, payload, dueAt } = event;
    const isWhole = payload === 'all';
    return {
      run: { ...run, runId: state?.run.runId ?? run.runId },
      payload,
      inputs: isWhole ? [...(state?.inputs ?? []), input] : [input],
      webhooks: (state?.webhooks ?? 0) + 1,
      bytes: isWhole ? (state?.bytes ?? 0) + bytes : bytes,
      firstAt: state?.firstAt ?? at,
      dueAt,
    };
  },
};

function join(
  command: Extract<WebhookBatchCommand, { type: 'Join' }>,
  state: WebhookBatch | null,
): WebhookBatchEvent[] {
  const { at, run, input, bytes, debounce } = command;
  const isRepeated = state?.inputs.some(({ runId }) => runId === input.runId) === true;
  if (isRepeated) return [];
  // Inputs of one kind only are in a batch.
  const isOther = state !== null && (state.payload !== debounce.payload || isFull(state));
  const open = isOther ? null : state;
  const joined = {
    type: 'WebhookJoined',
    at,
    run,
    input,
    bytes,
    payload: debounce.payload,
  } as const;
  const dueAt = Math.min(at + debounce.waitMs, (open?.firstAt ?? at) + debounce.maxWaitMs);
  return [...(isOther ? [{ type: 'BatchClosed' } as const] : []), { ...joined, dueAt }];
}

const isFull = ({ inputs, bytes }: WebhookBatch): boolean =>
  inputs.length >= limits.webhookBatchMax || bytes >= limits.webhookBatchBytesMax;
