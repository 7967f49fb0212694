import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** What people are notified of. */
export const alertKinds = [
  'connections_failing',
  'refreshes_failing',
  'dead_letters',
  'projections_stuck',
  'webhook_endpoints_disabled',
] as const;
export type AlertKind = (typeof alertKinds)[number];

/** How: JSON to a URL, Slack's incoming webhook, or mail. */
export const destinationTypes = ['webhook', 'slack', 'email'] as const;
export type DestinationType = (typeof destinationTypes)[number];

/** Scope = environment uid; path [environment uid, id]. */
export interface AlertDestination {
  readonly id: string;
  readonly environmentUid: string;
  readonly displayName: string;
  readonly type: DestinationType;
  /** URL or address, sealed under the environment's key: a URL contains its token. */
  readonly target: Sealed<string>;
  /** The part of the target that may be shown. */
  readonly shownTarget: string;
  /** Null = every kind. */
  readonly kinds: readonly AlertKind[] | null;
  readonly isEnabled: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The fields that a change may have. */
type DestinationChanges = Partial<
  Pick<AlertDestination, 'displayName' | 'target' | 'shownTarget' | 'kinds' | 'isEnabled'>
>;

export type AlertDestinationEvent =
  | { readonly type: 'AlertDestinationCreated'; readonly destination: AlertDestination }
  | {
      readonly type: 'AlertDestinationChanged';
      readonly changes: DestinationChanges;
      readonly at: Instant;
    }
  | { readonly type: 'AlertDestinationDeleted' };

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
