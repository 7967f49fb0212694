import type { Instant } from '#kernel/time.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';

export type ConsumerGroupEvent =
  | {
      readonly type: 'ResetAsked';
      readonly name: string;
      readonly resets: Readonly<Record<string, PartitionReset>>;
    }
  | { readonly type: 'ResetApplied'; readonly partition: string; readonly at: Instant };
