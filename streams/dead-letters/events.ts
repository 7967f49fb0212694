import type * as values from '../values.ts';

/** Types of messages of the topic. The first one is the dead letter itself; the others refer to it. */
export type DeadLetterType =
  | 'svc.dead-letter.added'
  | 'svc.dead-letter.retried'
  | 'svc.dead-letter.resolved'
  | 'svc.dead-letter.retry_failed'
  | 'svc.dead-letter.dropped';

/** A value of `svc.dead-letters.v1`. */
export type DeadLetterValue = values.DeadLetter;

/** The same without the common fields. */
export type DeadLetterStep = values.PublishedValues['svc.dead-letters.v1'];

/** Header of a command that is returned to its owner: the id of its dead letter. */
export const deadLetterHeader = 'svc-dead-letter';
