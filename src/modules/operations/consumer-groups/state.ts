import type { PartitionReset } from '#streams/reactor/reset-state.ts';

/** Scope = `account`; path [name]. Absent until the first reset. */
export interface ConsumerGroup {
  readonly name: string;
  /** The last reset of each partition, by its number. */
  readonly resets: Readonly<Record<string, PartitionReset>>;
}
