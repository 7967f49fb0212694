import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ChangeFilter, MessagePlace } from '../fields.ts';

/** A change that the consumer could not process, and has set aside. */
export interface ParkedChange extends MessagePlace {
  readonly reason: string;
  readonly parkedAt: Instant;
  /** It is to be delivered once more. Absent: no. */
  readonly isReplayed?: true;
  /** How often that failed. Absent: never. */
  readonly replays?: number;
}

/** An on-change function, to which the service delivers the changes. */
export interface FunctionTarget {
  readonly type: 'function';
  readonly integrationKey: string;
  readonly name: string;
}

/** An address, to which the service posts the changes. */
export interface WebhookTarget {
  readonly type: 'webhook';
  readonly url: Sealed<string>;
  /** Without its path, which may have a token. */
  readonly shownUrl: string;
  /** `ids`: without the records. */
  readonly payload: 'ids' | 'records';
  /** Changes of a request, at most. */
  readonly batchSize: number;
  /** Further requests after a refused one, before a change is parked. */
  readonly retries: number;
}

export type SubscriptionTarget = FunctionTarget | WebhookTarget;

/**
 * Changes of a partition on their way to the target: those from the position on and before `next`. It is decided before
 * they are sent, so that they are the same after a crash.
 */
export interface Delivery {
  readonly partition: number;
  /** Offset behind the last of them. */
  readonly next: number;
  /** As `FeedPosition.epochs`. */
  readonly epoch: number;
  /** From 1. */
  readonly attempt: number;
  /** Attempts that failed by the target. */
  readonly failures: number;
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
  /** The service delivers the changes to it. Absent: a reader asks for them. */
  readonly target?: SubscriptionTarget;
  /** Of the target; one of a partition at most. Absent: none. */
  readonly deliveries?: readonly Delivery[];
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
  | {
      readonly type: 'SubscriptionRetargeted';
      readonly filter: ChangeFilter;
      readonly target: SubscriptionTarget;
    }
  | { readonly type: 'DeliveryBegun'; readonly delivery: Delivery }
  | { readonly type: 'ReplayRequested'; readonly place: MessagePlace }
  | { readonly type: 'ReplayFailed'; readonly place: MessagePlace; readonly reason: string }
  | { readonly type: 'ChangeParked'; readonly parked: ParkedChange }
  | { readonly type: 'ChangeReleased'; readonly place: MessagePlace }
  | { readonly type: 'SubscriptionDeleted' };

/** Facts that the owner adds: `at`, and the number of subscriptions of the environment. */
export type CreateSubscription = {
  readonly type: 'Create';
  readonly siblings: number;
} & Pick<Subscription, 'uid' | 'environmentUid' | 'name' | 'filter' | 'target' | 'offsets'>;

type CommitSubscription = { readonly type: 'Commit' } & Pick<
  Subscription,
  'offsets' | 'epochs' | 'moves'
>;

/** Of the attempt that has begun; another one than the current is refused. */
type OfDelivery = Pick<Delivery, 'partition' | 'next' | 'attempt'> & Pick<Subscription, 'moves'>;

export type SubscriptionCommand = { readonly at: Instant } & (
  | CreateSubscription
  | CommitSubscription
  | { readonly type: 'Move'; readonly offsets: readonly number[] }
  | { readonly type: 'Park'; readonly place: MessagePlace; readonly reason: string }
  | { readonly type: 'Release'; readonly place: MessagePlace }
  | ({ readonly type: 'Retarget' } & Required<Pick<Subscription, 'filter' | 'target'>>)
  /** In place of a delivery of the partition: with less changes. */
  | ({ readonly type: 'BeginDelivery' } & Pick<Delivery, 'partition' | 'next' | 'epoch'> &
      Pick<Subscription, 'moves'>)
  /** `park`: without the one change that fails. */
  | ({
      readonly type: 'EndDelivery';
      readonly park?: { readonly place: MessagePlace; readonly reason: string };
    } & OfDelivery)
  | ({ readonly type: 'FailDelivery'; readonly isByTarget: boolean } & OfDelivery)
  /** No change in them is wanted. */
  | ({ readonly type: 'Skip' } & Pick<Delivery, 'partition' | 'next' | 'epoch'> &
      Pick<Subscription, 'moves'>)
  | { readonly type: 'Replay'; readonly place: MessagePlace }
  | { readonly type: 'FailReplay'; readonly place: MessagePlace; readonly reason: string }
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
        if (parkedAt(state, command.place) === null) throw notParked();
        return [{ type: 'ChangeReleased', place: command.place }];
      case 'Retarget':
        return retargeted(command, state);
      case 'BeginDelivery':
        return begun(command, state);
      case 'EndDelivery':
        return ended(command, state);
      case 'FailDelivery':
        return failed(command, state);
      case 'Skip':
        return skipped(command, state);
      case 'Replay':
        return replayed(command, state);
      case 'FailReplay':
        return parkedAt(state, command.place)?.isReplayed === true
          ? [{ type: 'ReplayFailed', place: command.place, reason: command.reason }]
          : [];
      case 'Delete':
        return [{ type: 'SubscriptionDeleted' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'SubscriptionCreated') return event.subscription;
    if (state === null || event.type === 'SubscriptionDeleted') return null;
    switch (event.type) {
      case 'SubscriptionCommitted':
        return {
          ...state,
          ...withDeliveries(state, ({ partition, next }) => next > (event.offsets[partition] ?? 0)),
          offsets: event.offsets,
          epochs: event.epochs,
          committedAt: event.at,
        };
      case 'SubscriptionMoved':
        return {
          ...state,
          ...withDeliveries(state, () => false),
          offsets: event.offsets,
          epochs: [],
          moves: state.moves + 1,
        };
      case 'SubscriptionRetargeted':
        return { ...state, filter: event.filter, target: event.target };
      case 'DeliveryBegun': {
        const { delivery } = event;
        const others = deliveriesOf(state).filter(
          ({ partition }) => partition !== delivery.partition,
        );
        return { ...state, deliveries: [...others, delivery] };
      }
      case 'ReplayRequested':
        return withParked(state, event.place, (one) => ({ ...one, isReplayed: true }));
      case 'ReplayFailed':
        return withParked(state, event.place, ({ isReplayed: _, replays = 0, ...one }) => ({
          ...one,
          reason: event.reason,
          replays: replays + 1,
        }));
      case 'ChangeParked':
        return { ...state, parked: [...state.parked, event.parked] };
      case 'ChangeReleased':
        return { ...state, parked: state.parked.filter((one) => !isSame(one, event.place)) };
    }
  },
};

export const deliveriesOf = ({
  deliveries = [],
}: Pick<Subscription, 'deliveries'>): readonly Delivery[] => deliveries;

/** Absent where there are none: a subscription without a target stays as it was. */
function withDeliveries(
  state: Subscription,
  isKept: (delivery: Delivery) => boolean,
): Pick<Subscription, 'deliveries'> {
  return state.deliveries === undefined ? {} : { deliveries: state.deliveries.filter(isKept) };
}

const withParked = (
  state: Subscription,
  place: MessagePlace,
  change: (one: ParkedChange) => ParkedChange,
): Subscription => ({
  ...state,
  parked: state.parked.map((one) => (isSame(one, place) ? change(one) : one)),
});

const parkedAt = ({ parked }: Subscription, place: MessagePlace): ParkedChange | null =>
  parked.find((one) => isSame(one, place)) ?? null;

const isSame = (one: MessagePlace, other: MessagePlace): boolean =>
  one.partition === other.partition && one.offset === other.offset;

function created(
  command: CreateSubscription & { readonly at: Instant },
  state: Subscription | null,
): SubscriptionEvent[] {
  const { uid, environmentUid, name, filter, target, offsets, siblings, at } = command;
  if (state !== null) {
    if (isSameFilter(state.filter, filter) && state.target?.type === target?.type) {
      return target === undefined ? [] : retargeted({ filter, target }, state);
    }
    const message = `The subscription "${name}" has another filter or kind of target. Delete it first, or choose another name.`;
    throw new GatewayError('conflict', { message });
  }
  // Functions have limits of their own.
  if (target?.type !== 'function' && siblings >= limits.subscriptionsMax) {
    const message = `An environment has at most ${limits.subscriptionsMax} subscriptions.`;
    throw new GatewayError('resource_capped', { message });
  }
  const rest = { epochs: [], moves: 0, parked: [], createdAt: at, committedAt: null };
  const named = { uid, environmentUid, name, filter, offsets };
  const subscription = { ...named, ...(target === undefined ? {} : { target }), ...rest };
  return [{ type: 'SubscriptionCreated', subscription }];
}

const isSameFilter = (one: ChangeFilter, other: ChangeFilter): boolean =>
  one.provider_config_key === other.provider_config_key &&
  one.connection_id === other.connection_id &&
  one.model === other.model &&
  stableJson(one.models ?? []) === stableJson(other.models ?? []) &&
  one.variant === other.variant;

/** A later commit than this one may have come first: a position never goes back by a commit. */
function committed(
  { offsets, epochs, moves, at }: CommitSubscription & { readonly at: Instant },
  state: Subscription,
): SubscriptionEvent[] {
  if (state.target !== undefined) {
    const message = `The service delivers the changes of the subscription "${state.name}" and commits their position itself. Create another subscription to read them.`;
    throw new GatewayError('conflict', { message });
  }
  if (moves !== state.moves || offsets.length !== state.offsets.length) throw moved();
  const furthest = largest(offsets, state.offsets);
  if (furthest.every((offset, partition) => offset === state.offsets[partition])) return [];
  const fences = largest(epochs, state.epochs);
  return [{ type: 'SubscriptionCommitted', offsets: furthest, epochs: fences, at }];
}

const moved = (): GatewayError =>
  new GatewayError('conflict', {
    message: 'The subscription was moved since the cursor was read. Read on from its position.',
  });

function retargeted(
  { filter, target }: Required<Pick<Subscription, 'filter' | 'target'>>,
  state: Subscription,
): SubscriptionEvent[] {
  const isSameTarget = stableJson({ ...state.target }) === stableJson({ ...target });
  if (isSameTarget && isSameFilter(filter, state.filter)) return [];
  return [{ type: 'SubscriptionRetargeted', filter, target }];
}

type Progress = Pick<Delivery, 'partition' | 'next' | 'epoch'> & Pick<Subscription, 'moves'>;

function begun({ partition, next, epoch, moves }: Progress, state: Subscription) {
  if (moves !== state.moves) throw moved();
  const current = deliveriesOf(state).find((one) => one.partition === partition);
  if (next <= (state.offsets[partition] ?? 0) || (current && next > current.next)) throw moved();
  if (current?.next === next) return [];
  const delivery = { partition, next, epoch, attempt: 1, failures: 0 };
  return [{ type: 'DeliveryBegun', delivery }] satisfies SubscriptionEvent[];
}

type DeliveryIdentity = Pick<Delivery, 'partition' | 'next' | 'attempt'> &
  Pick<Subscription, 'moves'>;

/** @throws GatewayError `conflict`: the delivery is over, or another attempt of it has begun */
function currentDelivery(
  { partition, next, attempt, moves }: DeliveryIdentity,
  state: Subscription,
): Delivery {
  const current = deliveriesOf(state).find((one) => one.partition === partition);
  const isCurrent = current?.next === next && current.attempt === attempt && moves === state.moves;
  if (!isCurrent) throw moved();
  return current;
}

function ended(
  {
    park,
    at,
    ...identity
  }: DeliveryIdentity & {
    readonly park?: { readonly place: MessagePlace; readonly reason: string };
    readonly at: Instant;
  },
  state: Subscription,
): SubscriptionEvent[] {
  const { partition, next, epoch } = currentDelivery(identity, state);
  const set = park === undefined ? [] : parked({ ...park, at }, state);
  return [...set, passed({ partition, next, epoch, at }, state)];
}

/** The position of the partition moves behind the changes. */
function passed(
  { partition, next, epoch, at }: Omit<Progress, 'moves'> & { readonly at: Instant },
  state: Subscription,
): SubscriptionEvent {
  const epochs = state.offsets.map((_, one) => state.epochs[one] ?? 0);
  return {
    type: 'SubscriptionCommitted',
    offsets: state.offsets.with(partition, next),
    epochs: epochs.with(partition, Math.max(epoch, epochs[partition] ?? 0)),
    at,
  };
}

function failed(
  { isByTarget, ...identity }: DeliveryIdentity & { readonly isByTarget: boolean },
  state: Subscription,
): SubscriptionEvent[] {
  const current = currentDelivery(identity, state);
  const attempt = current.attempt + 1;
  const failures = current.failures + (isByTarget ? 1 : 0);
  return [{ type: 'DeliveryBegun', delivery: { ...current, attempt, failures } }];
}

function skipped(
  { partition, next, epoch, moves, at }: Progress & { readonly at: Instant },
  state: Subscription,
): SubscriptionEvent[] {
  if (moves !== state.moves) throw moved();
  const isBusy = deliveriesOf(state).some((one) => one.partition === partition);
  if (isBusy || next <= (state.offsets[partition] ?? 0)) return [];
  return [passed({ partition, next, epoch, at }, state)];
}

function replayed(
  { place }: { readonly place: MessagePlace },
  state: Subscription,
): SubscriptionEvent[] {
  const found = parkedAt(state, place);
  if (found === null) throw notParked();
  if (state.target === undefined) {
    const message = `The subscription "${state.name}" has no target: process its parked changes, then release them.`;
    throw new GatewayError('conflict', { message });
  }
  return found.isReplayed === true ? [] : [{ type: 'ReplayRequested', place }];
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
