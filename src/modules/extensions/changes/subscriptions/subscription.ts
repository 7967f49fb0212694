import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { ChangeFilter, MessagePlace } from '../fields.ts';

/** A change that the consumer could not process, and has set aside. */
export interface ParkedChange extends MessagePlace {
  readonly reason: string;
  readonly parkedAt: Instant;
}

/** A reader of changes whose position the service keeps. Scope = environment uid; path [environment uid, name]. */
export interface Subscription {
  readonly uid: string;
  readonly environmentUid: string;
  readonly name: string;
  readonly filter: ChangeFilter;
  /** By partition of the records topic, the offset of the next message. */
  readonly offsets: readonly number[];
  /** As `FeedPosition.epochs`. */
  readonly epochs: readonly number[];
  /** How often somebody moved it: cursors that were read before a move are not committed after it. */
  readonly moves: number;
  /** Oldest first. */
  readonly parked: readonly ParkedChange[];
  readonly createdAt: Instant;
  /** Null before the first commit. */
  readonly committedAt: Instant | null;
}

export type SubscriptionEvent =
  | { readonly type: 'SubscriptionCreated'; readonly subscription: Subscription }
  | {
      readonly type: 'SubscriptionCommitted';
      readonly offsets: readonly number[];
      readonly epochs: readonly number[];
      readonly at: Instant;
    }
  | { readonly type: 'SubscriptionMoved'; readonly offsets: readonly number[] }
  | { readonly type: 'ChangeParked'; readonly parked: ParkedChange }
  | { readonly type: 'ChangeReleased'; readonly place: MessagePlace }
  | { readonly type: 'SubscriptionDeleted' };

/** Facts that the owner adds: `at`, and the number of subscriptions of the environment. */
export type CreateSubscription = {
  readonly type: 'Create';
  readonly siblings: number;
} & Pick<Subscription, 'uid' | 'environmentUid' | 'name' | 'filter' | 'offsets'>;

type CommitSubscription = { readonly type: 'Commit' } & Pick<
  Subscription,
  'offsets' | 'epochs' | 'moves'
>;

export type SubscriptionCommand = { readonly at: Instant } & (
  | CreateSubscription
  | CommitSubscription
  | { readonly type: 'Move'; readonly offsets: readonly number[] }
  | { readonly type: 'Park'; readonly place: MessagePlace; readonly reason: string }
  | { readonly type: 'Release'; readonly place: MessagePlace }
  | { readonly type: 'Delete' }
);

export const subscription: Decider<Subscription | null, SubscriptionCommand, SubscriptionEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') return created(command, state);
    if (state === null) throw notFound();
    switch (command.type) {
      case 'Commit':
        return committed(command, state);
      case 'Move':
        return [{ type: 'SubscriptionMoved', offsets: command.offsets }];
      case 'Park':
        return parked(command, state);
      case 'Release':
        if (!state.parked.some((one) => isSame(one, command.place))) throw notParked();
        return [{ type: 'ChangeReleased', place: command.place }];
      case 'Delete':
        return [{ type: 'SubscriptionDeleted' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'SubscriptionCreated') return event.subscription;
    if (state === null || event.type === 'SubscriptionDeleted') return null;
    switch (event.type) {
      case 'SubscriptionCommitted':
        return { ...state, offsets: event.offsets, epochs: event.epochs, committedAt: event.at };
      case 'SubscriptionMoved':
        return { ...state, offsets: event.offsets, epochs: [], moves: state.moves + 1 };
      case 'ChangeParked':
        return { ...state, parked: [...state.parked, event.parked] };
      case 'ChangeReleased':
        return { ...state, parked: state.parked.filter((one) => !isSame(one, event.place)) };
    }
  },
};

const isSame = (one: MessagePlace, other: MessagePlace): boolean =>
  one.partition === other.partition && one.offset === other.offset;

function created(
  command: CreateSubscription & { readonly at: Instant },
  state: Subscription | null,
): SubscriptionEvent[] {
  const { uid, environmentUid, name, filter, offsets, siblings, at } = command;
  if (state !== null) {
    if (isSameFilter(state.filter, filter)) return [];
    const message = `The subscription "${name}" has another filter. Delete it first, or choose another name.`;
    throw new GatewayError('conflict', { message });
  }
  if (siblings >= limits.subscriptionsMax) {
    const message = `An environment has at most ${limits.subscriptionsMax} subscriptions.`;
    throw new GatewayError('resource_capped', { message });
  }
  const rest = { epochs: [], moves: 0, parked: [], createdAt: at, committedAt: null };
  const subscription = { uid, environmentUid, name, filter, offsets, ...rest };
  return [{ type: 'SubscriptionCreated', subscription }];
}

const isSameFilter = (one: ChangeFilter, other: ChangeFilter): boolean =>
  one.provider_config_key === other.provider_config_key &&
  one.connection_id === other.connection_id &&
  one.model === other.model &&
  one.variant === other.variant;

/** A later commit than this one may have come first: a position never goes back by a commit. */
function committed(
  { offsets, epochs, moves, at }: CommitSubscription & { readonly at: Instant },
  state: Subscription,
): SubscriptionEvent[] {
  if (moves !== state.moves || offsets.length !== state.offsets.length) {
    const message =
      'The subscription was moved since the cursor was read. Read on from its position.';
    throw new GatewayError('conflict', { message });
  }
  const furthest = largest(offsets, state.offsets);
  if (furthest.every((offset, partition) => offset === state.offsets[partition])) return [];
  const fences = largest(epochs, state.epochs);
  return [{ type: 'SubscriptionCommitted', offsets: furthest, epochs: fences, at }];
}

const largest = (some: readonly number[], others: readonly number[]): readonly number[] =>
  some.map((one, partition) => Math.max(one, others[partition] ?? 0));

function parked(
  { place, reason, at }: { place: MessagePlace; reason: string; at: Instant },
  state: Subscription,
): SubscriptionEvent[] {
  if (state.parked.some((one) => isSame(one, place))) return [];
  if (state.parked.length >= limits.parkedChangesMax) {
    const message = `A subscription has at most ${limits.parkedChangesMax} parked changes. Process and release some first.`;
    throw new GatewayError('resource_capped', { message });
  }
  return [{ type: 'ChangeParked', parked: { ...place, reason, parkedAt: at } }];
}

const notFound = (): GatewayError =>
  new GatewayError('not_found', { message: 'The subscription does not exist.' });

const notParked = (): GatewayError =>
  new GatewayError('not_found', { message: 'The change is not parked.' });
