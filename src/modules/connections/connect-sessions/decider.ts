import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { ConnectSessionEvent } from './events.ts';
import type { ConnectSession } from './state.ts';

export type ConnectSessionCommand =
  | ({ readonly type: 'Create'; readonly at: Instant } & Omit<
      ConnectSession,
      'createdAt' | 'expiresAt'
    >)
  | { readonly type: 'End'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const connectSession: Decider<
  ConnectSession | null,
  ConnectSessionCommand,
  ConnectSessionEvent
> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Create': {
        if (state !== null) throw new GatewayError('conflict');
        const { type: _type, at, ...input } = command;
        const session = { ...input, createdAt: at, expiresAt: at + limits.connectSessionMs };
        return [{ type: 'SessionCreated', session }];
      }
      case 'End':
        return state === null ? [] : [{ type: 'SessionEnded' }];
      case 'Tick':
        return state === null || command.at < state.expiresAt ? [] : [{ type: 'SessionEnded' }];
    }
  },

  evolve: (_state, event) => (event.type === 'SessionCreated' ? event.session : null),
};
