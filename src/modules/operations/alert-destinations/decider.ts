import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { AlertDestinationEvent, DestinationChanges } from './events.ts';
import type { AlertDestination } from './state.ts';

/** Facts that the owner adds: `at`, and the number of destinations of the environment. */
export type AlertDestinationCommand =
  | {
      readonly type: 'Create';
      readonly destination: Omit<AlertDestination, 'createdAt' | 'updatedAt'>;
      readonly siblings: number;
      readonly at: Instant;
    }
  | { readonly type: 'Patch'; readonly changes: DestinationChanges; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const alertDestination: Decider<
  AlertDestination | null,
  AlertDestinationCommand,
  AlertDestinationEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') {
      if (state !== null) throw new GatewayError('conflict');
      if (command.siblings >= limits.alertDestinationsMax) {
        const message = `An environment has at most ${limits.alertDestinationsMax} alert destinations.`;
        throw new GatewayError('resource_capped', { message });
      }
      const times = { createdAt: command.at, updatedAt: command.at };
      const destination = { ...command.destination, ...times };
      return [{ type: 'AlertDestinationCreated', destination }];
    }
    if (state === null) {
      throw new GatewayError('not_found', { message: 'The alert destination does not exist.' });
    }
    if (command.type === 'Delete') return [{ type: 'AlertDestinationDeleted' }];
    return [{ type: 'AlertDestinationChanged', changes: command.changes, at: command.at }];
  },

  evolve(state, event) {
    if (event.type === 'AlertDestinationCreated') return event.destination;
    if (state === null || event.type === 'AlertDestinationDeleted') return null;
    return { ...state, ...event.changes, updatedAt: event.at };
  },
};
