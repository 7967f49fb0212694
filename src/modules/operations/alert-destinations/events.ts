import type { Instant } from '#kernel/time.ts';
import type { AlertDestination } from './state.ts';

/** The fields that a change may have. */
export type DestinationChanges = Partial<
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
