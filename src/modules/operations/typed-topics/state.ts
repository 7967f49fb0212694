import type { Instant } from '#kernel/time.ts';

/** Scope = environment uid; path [environment uid, integration key, model]. */
export interface TypedTopic {
  /** Id of this opt-in: an opt-in after an opt-out has a new one and refills the topic. */
  readonly uid: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly model: string;
  /** The topic's name without its major version, such as `svc.cdc.dev.crm.contact`. Never changes. */
  readonly address: string;
  /** The newest major version; 0 until the reactor has created the first. */
  readonly major: number;
  readonly enabledAt: Instant;
  /**
   * From then on only erasures are published, until the retention has deleted the messages of the topic; null = in use.
   */
  readonly endedAt: Instant | null;
}
