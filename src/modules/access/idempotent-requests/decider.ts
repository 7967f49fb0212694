import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { IdempotentRequestEvent } from './events.ts';
import type { IdempotentRequest, KeptAnswer } from './state.ts';

/** How long the lease of the request that does the work lasts; extended while it runs. */
const leaseMs = 30_000;

export type IdempotentRequestCommand = { readonly at: Instant } & (
  | { readonly type: 'Begin'; readonly token: string; readonly requestHash: string }
  | { readonly type: 'Extend'; readonly token: string }
  | { readonly type: 'End'; readonly token: string; readonly answer: KeptAnswer }
  /** The work failed without a result: the next request may do it. */
  | { readonly type: 'Release'; readonly token: string }
  | { readonly type: 'Tick' }
);

export const idempotentRequest: Decider<
  IdempotentRequest | null,
  IdempotentRequestCommand,
  IdempotentRequestEvent
> = {
  initial: null,

  decide(command, state) {
    const { at } = command;
    if (command.type === 'Begin') return begun(command, state);
    if (command.type === 'Tick') {
      return state === null || at < state.until ? [] : [{ type: 'RequestForgotten' }];
    }
    const isRunning = state !== null && state.answer === null && state.token === command.token;
    if (!isRunning) return [];
    switch (command.type) {
      case 'Extend':
        return [{ type: 'LeaseExtended', leaseUntil: at + leaseMs }];
      case 'End':
        return [{ type: 'RequestAnswered', answer: command.answer }];
      case 'Release':
        return [{ type: 'RequestForgotten' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'RequestBegun') return event.request;
    if (event.type === 'RequestForgotten' || state === null) return null;
    return event.type === 'LeaseExtended'
      ? { ...state, leaseUntil: event.leaseUntil }
      : { ...state, answer: event.answer };
  },
};

/** Emits no event where another request runs or has ended: the caller reads that from the state. */
function begun(
  { at, token, requestHash }: Extract<IdempotentRequestCommand, { type: 'Begin' }>,
  state: IdempotentRequest | null,
): IdempotentRequestEvent[] {
  const isKnown = state !== null && at < state.until;
  if (isKnown && state.requestHash !== requestHash) throw new GatewayError('idempotency_conflict');
  if (isKnown && (state.answer !== null || at < state.leaseUntil)) return [];
  const request: IdempotentRequest = {
    requestHash,
    token,
    workId: isKnown ? (state.workId ?? state.token) : token,
    leaseUntil: at + leaseMs,
    answer: null,
    until: isKnown ? state.until : at + limits.idempotencyMs,
  };
  return [{ type: 'RequestBegun', request }];
}
