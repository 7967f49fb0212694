import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { AuthorizationEvent } from './events.ts';
import type { Authorization } from './state.ts';

export type AuthorizationCommand =
  | ({ readonly type: 'Begin'; readonly at: Instant } & Omit<
      Authorization,
      'createdAt' | 'expiresAt'
    >)
  /** By a callback: the first consumes it, any other is refused with `not_found`. */
  | { readonly type: 'Take'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const authorization: Decider<
  Authorization | null,
  AuthorizationCommand,
  AuthorizationEvent
> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Begin': {
        if (state !== null) throw new GatewayError('conflict');
        const { type: _type, at, ...input } = command;
        const begun = { ...input, createdAt: at, expiresAt: at + limits.authorizationMs };
        return [{ type: 'AuthorizationBegun', authorization: begun }];
      }
      case 'Take':
        if (state === null || command.at >= state.expiresAt) throw new GatewayError('not_found');
        return [{ type: 'AuthorizationTaken' }];
      case 'Tick':
        if (state === null || command.at < state.expiresAt) return [];
        return [{ type: 'AuthorizationAbandoned' }];
    }
  },

  evolve: (_state, event) => (event.type === 'AuthorizationBegun' ? event.authorization : null),
};
