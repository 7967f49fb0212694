import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';

/** An order to have one root key wrap every data key. Scope = `account`; path [`rewrap`]; absent until the first. */
export interface Rewrap {
  readonly id: string;
  /** Id of the target root key. */
  readonly rootKeyId: string;
  /** Number of data keys wrapped by another root key at the time of the order. */
  readonly total: number;
  readonly by: string;
  readonly orderedAt: Instant;
  /** Null while in progress. */
  readonly endedAt: Instant | null;
}

export type RewrapEvent =
  | { readonly type: 'RewrapOrdered'; readonly rewrap: Rewrap }
  | { readonly type: 'RewrapEnded'; readonly at: Instant };

/** `at` is the owner's time. */
export type RewrapCommand =
  | {
      readonly type: 'Order';
      readonly id: string;
      readonly rootKeyId: string;
      readonly total: number;
      readonly by: string;
      readonly at: Instant;
    }
  | { readonly type: 'End'; readonly id: string; readonly at: Instant };

export const rewrap: Decider<Rewrap | null, RewrapCommand, RewrapEvent> = {
  initial: null,

  decide(command, state) {
    const isUnderWay = state?.endedAt === null;
    if (command.type === 'End') {
      const isThis = isUnderWay && state.id === command.id;
      return isThis ? [{ type: 'RewrapEnded', at: command.at }] : [];
    }
    if (isUnderWay && state.rootKeyId === command.rootKeyId) return [];
    const { id, rootKeyId, total, by, at } = command;
    const ordered = { id, rootKeyId, total, by, orderedAt: at, endedAt: null };
    return [{ type: 'RewrapOrdered', rewrap: ordered }];
  },

  evolve(state, event) {
    if (event.type === 'RewrapOrdered') return event.rewrap;
    return state === null ? null : { ...state, endedAt: event.at };
  },
};
