import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';

/**
 * The outcome of the first request with a key. Own scope; path [environment uid or account, caller's key id, hash of
 * the key].
 */
export interface IdempotentRequest {
  /** Keyed hash of method, address and body. */
  readonly requestHash: string;
  /** Token of the request that does the work. */
  readonly token: string;
  /**
   * Id of the first request that did the work, and of those that continued it. Absent in states of release 0.70.0: the
   * token.
   */
  readonly workId?: string;
  /** Expiry of the lease while it runs. */
  readonly leaseUntil: Instant;
  /** Null while it runs. */
  readonly answer: KeptAnswer | null;
  /** Deleted at this time. */
  readonly until: Instant;
}

/** `too-large`: the response was too large to store. */
export type KeptAnswer =
  | { readonly kind: 'sealed'; readonly sealed: Sealed<JsonObject> }
  | { readonly kind: 'too-large' };

export type IdempotentRequestEvent =
  | { readonly type: 'RequestBegun'; readonly request: IdempotentRequest }
  | { readonly type: 'LeaseExtended'; readonly leaseUntil: Instant }
  | { readonly type: 'RequestAnswered'; readonly answer: KeptAnswer }
  | { readonly type: 'RequestForgotten' };

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
