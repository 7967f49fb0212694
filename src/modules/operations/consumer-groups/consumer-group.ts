import type { Decider } from '#kernel/decider.ts';
import type { Instant } from '#kernel/time.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';

/** Scope = `account`; path [name]. Absent until the first reset. */
export interface ConsumerGroup {
  readonly name: string;
  /** The last reset of each partition, by its number. */
  readonly resets: Readonly<Record<string, PartitionReset>>;
}

export type ConsumerGroupEvent =
  | {
      readonly type: 'ResetAsked';
      readonly name: string;
      readonly resets: Readonly<Record<string, PartitionReset>>;
    }
  | { readonly type: 'ResetApplied'; readonly partition: string; readonly at: Instant };

interface Move {
  readonly partition: number;
  readonly from: number;
  readonly to: number;
  readonly until: number;
}

/** `at` is the owner's time. A later reset of a partition replaces one that is not applied yet. */
export type ConsumerGroupCommand =
  | {
      readonly type: 'Reset';
      readonly name: string;
      readonly id: string;
      readonly moves: readonly Move[];
      readonly isRepeat: boolean;
      readonly by: string;
      readonly at: Instant;
    }
  | {
      readonly type: 'Applied';
      readonly id: string;
      readonly partition: number;
      readonly at: Instant;
    };

export const consumerGroup: Decider<
  ConsumerGroup | null,
  ConsumerGroupCommand,
  ConsumerGroupEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Reset') {
      const { id, isRepeat, by, at } = command;
      const resets = command.moves.map(({ partition, ...move }): [string, PartitionReset] => {
        return [String(partition), { id, ...move, isRepeat, by, at, appliedAt: null }];
      });
      return [{ type: 'ResetAsked', name: command.name, resets: Object.fromEntries(resets) }];
    }
    const partition = String(command.partition);
    const reset = state?.resets[partition];
    if (reset?.id !== command.id || reset.appliedAt !== null) return [];
    return [{ type: 'ResetApplied', partition, at: command.at }];
  },

  evolve(state, event) {
    if (event.type === 'ResetAsked') {
      return { name: event.name, resets: { ...state?.resets, ...event.resets } };
    }
    const reset = state?.resets[event.partition];
    if (state === null || reset === undefined) return state;
    const applied = { ...reset, appliedAt: event.at };
    return { ...state, resets: { ...state.resets, [event.partition]: applied } };
  },
};
