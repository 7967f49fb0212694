import type { Sealed } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';

/** What people are notified of. */
export const alertKinds = [
  'connections_failing',
  'refreshes_failing',
  'dead_letters',
  'projections_stuck',
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
