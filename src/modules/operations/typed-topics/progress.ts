export const typedProgressTopic = 'svc.internal.typed-topics.v1';

/**
 * A value of `svc.internal.typed-topics.v1`.
 * @see schemas/records/typed-topic-progress.v1.avsc
 */
export interface TypedTopicProgress {
  readonly opt_in: string;
  readonly next: number;
  readonly is_live: boolean;
  readonly owner_epoch: number;
}
