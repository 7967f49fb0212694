import type * as values from '#streams/values.ts';

export const typedProgressTopic = 'svc.internal.typed-topics.v1';

/** A value of `svc.internal.typed-topics.v1`. */
export type TypedTopicProgress = values.TypedTopicProgress;
