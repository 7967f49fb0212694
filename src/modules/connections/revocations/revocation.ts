import type { Decider } from '#kernel/decider.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';

/** What a deleted connection leaves for the revocation at its provider. */
export interface RevocationOrder {
  /** Id of the log operation, and of the key that seals the request. */
  readonly uid: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  readonly provider: string;
  /** The call with its secrets, so that it needs nothing of the integration or the environment. */
  readonly request: Sealed<JsonObject>;
}

/** In the scope of its connection; path = path of the connection and its uid. */
export interface Revocation extends Omit<RevocationOrder, 'request'> {
  /** Null once the revocation has ended. */
  readonly request: Sealed<JsonObject> | null;
  /**
   * `due`: any node may begin an attempt; `waiting` for the next one; `ended`: the node of the last attempt destroys
   * the key; `left`: it has not, any node does it.
   */
  readonly status: 'due' | 'running' | 'waiting' | 'ended' | 'left';
  /** Attempts that have begun. */
  readonly attempts: number;
  /** Of the node with the attempt; null before and after. */
  readonly token: string | null;
  /** End of the status by time alone; null: it has none. */
  readonly dueAt: Instant | null;
}

export type RevocationEvent =
  | { readonly type: 'RevocationRequested'; readonly order: RevocationOrder }
  | { readonly type: 'RevocationBegun'; readonly token: string; readonly at: Instant }
  | { readonly type: 'RevocationPostponed'; readonly dueAt: Instant }
  | { readonly type: 'RevocationDue' }
  | { readonly type: 'RevocationEnded'; readonly at: Instant }
  | { readonly type: 'RevocationLeft'; readonly at: Instant }
  | { readonly type: 'RevocationRemoved' };

export type RevocationCommand = { readonly at: Instant } & (
  | { readonly type: 'Request'; readonly order: RevocationOrder }
  | { readonly type: 'Begin'; readonly token: string }
  /** The attempt failed in a way that may pass. */
  | { readonly type: 'Postpone'; readonly token: string }
  | { readonly type: 'End'; readonly token: string }
  /** The key is destroyed. */
  | { readonly type: 'Remove'; readonly uid: string }
  | { readonly type: 'Tick' }
);

export const revocation: Decider<Revocation | null, RevocationCommand, RevocationEvent> = {
  initial: null,

  decide(command, state) {
    const { at } = command;
    if (command.type === 'Request') {
      return state === null ? [{ type: 'RevocationRequested', order: command.order }] : [];
    }
    if (state === null) return [];
    const isHeld = (token: string) => state.status === 'running' && state.token === token;
    switch (command.type) {
      case 'Begin':
        return state.status === 'due'
          ? [{ type: 'RevocationBegun', token: command.token, at }]
          : [];
      case 'Postpone':
        return isHeld(command.token) ? [postponed(state, at)] : [];
      case 'End':
        return isHeld(command.token) ? [{ type: 'RevocationEnded', at }] : [];
      case 'Remove':
        return state.uid === command.uid ? [{ type: 'RevocationRemoved' }] : [];
      case 'Tick':
        return state.dueAt === null || at < state.dueAt ? [] : [afterTime(state, at)];
    }
  },

  evolve(state, event) {
    if (event.type === 'RevocationRequested') return requested(event.order);
    if (event.type === 'RevocationRemoved' || state === null) return null;
    switch (event.type) {
      case 'RevocationBegun': {
        const { token, at } = event;
        const dueAt = at + limits.revocationLeaseMs;
        return { ...state, status: 'running', token, attempts: state.attempts + 1, dueAt };
      }
      case 'RevocationPostponed':
        return { ...state, status: 'waiting', token: null, dueAt: event.dueAt };
      case 'RevocationDue':
        return { ...state, status: 'due', token: null, dueAt: null };
      case 'RevocationEnded':
      case 'RevocationLeft': {
        const status = event.type === 'RevocationEnded' ? 'ended' : 'left';
        const dueAt = event.at + limits.revocationLeaseMs;
        return { ...state, status, request: null, token: null, dueAt };
      }
    }
  },
};

const requested = (order: RevocationOrder): Revocation => ({
  ...order,
  status: 'due',
  attempts: 0,
  token: null,
  dueAt: null,
});

function postponed({ attempts }: Revocation, at: Instant): RevocationEvent {
  if (attempts >= limits.revocationAttemptsMax) return { type: 'RevocationEnded', at };
  return { type: 'RevocationPostponed', dueAt: at + waitAfter(attempts) };
}

/** An attempt without an outcome counts: its process ended, or lost the log. */
function afterTime(state: Revocation, at: Instant): RevocationEvent {
  if (state.status === 'ended' || state.status === 'left') return { type: 'RevocationLeft', at };
  const isLast = state.status === 'running' && state.attempts >= limits.revocationAttemptsMax;
  return isLast ? { type: 'RevocationLeft', at } : { type: 'RevocationDue' };
}

/** Until the next attempt. */
const waitAfter = (attempts: number): number =>
  Math.min(limits.revocationFirstWaitMs * 4 ** (attempts - 1), limits.revocationWaitMaxMs);

/** After this time every revocation has ended. */
export const revocationMaxMs = Array.from(
  { length: limits.revocationAttemptsMax },
  (_, index) => waitAfter(index + 1) + 2 * limits.revocationLeaseMs,
).reduce((sum, ms) => sum + ms, 0);
