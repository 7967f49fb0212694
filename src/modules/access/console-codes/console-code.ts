import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** Names a key without its secret. `environmentUid` is null for a key of the account. */
export interface KeyName {
  readonly environmentUid: string | null;
  readonly id: string;
}

/**
 * Signs a browser in once, in place of the named keys or as the person. Kind `console-code`, scope `account`, path [id]. Index `hash` =
 * keyed hash of the code, which is not stored; index `person`. Absent once it is used, withdrawn or expired.
 */
export interface ConsoleCode {
  readonly id: string;
  readonly hash: string;
  readonly keys: readonly KeyName[];
  /** Id of the person; absent for a code of keys. */
  readonly personId?: string;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
}

export type ConsoleCodeEvent =
  | { readonly type: 'CodeCreated'; readonly code: ConsoleCode }
  | { readonly type: 'CodeUsed' }
  /** Also withdrawn. */
  | { readonly type: 'CodeExpired' };

/** `at` is the owner's time. */
export type ConsoleCodeCommand =
  | ({ readonly type: 'Create'; readonly at: Instant } & Omit<
      ConsoleCode,
      'createdAt' | 'expiresAt' | 'personId'
    > & {
        readonly personId?: string | undefined;
        /** Default: `limits.consoleCodeMs`. */
        readonly lifetimeMs?: number | undefined;
      })
  | { readonly type: 'Use'; readonly at: Instant }
  /** A newer link, or the end of the person's access, takes it out of use. */
  | { readonly type: 'Withdraw'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const consoleCode: Decider<ConsoleCode | null, ConsoleCodeCommand, ConsoleCodeEvent> = {
  initial: null,

  decide(command, state) {
    const isOver = state === null || command.at >= state.expiresAt;
    switch (command.type) {
      case 'Create': {
        if (state !== null) throw new GatewayError('conflict');
        const { id, hash, keys, personId, at, lifetimeMs = limits.consoleCodeMs } = command;
        const times = { createdAt: at, expiresAt: at + lifetimeMs };
        const code = { id, hash, keys, ...(personId === undefined ? {} : { personId }), ...times };
        return [{ type: 'CodeCreated', code }];
      }
      case 'Use':
        // Of two uses at the same time, the owner decides one first.
        if (isOver) throw new GatewayError('unknown_console_code');
        return [{ type: 'CodeUsed' }];
      case 'Withdraw':
        return state === null ? [] : [{ type: 'CodeExpired' }];
      case 'Tick':
        return isOver && state !== null ? [{ type: 'CodeExpired' }] : [];
    }
  },

  evolve: (_state, event) => (event.type === 'CodeCreated' ? event.code : null),
};
