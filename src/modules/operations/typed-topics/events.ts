import type { Instant } from '#kernel/time.ts';
import type { TypedTopic } from './state.ts';

export type TypedTopicEvent =
  | { readonly type: 'TypedTopicEnabled'; readonly typedTopic: TypedTopic }
  | { readonly type: 'TypedTopicOpened'; readonly major: number }
  | { readonly type: 'TypedTopicEnded'; readonly at: Instant }
  /** The retention has deleted the messages of the topic. */
  | { readonly type: 'TypedTopicForgotten' };
