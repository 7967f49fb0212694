import type { PublicMessage } from '#control-plane/entity.ts';
import { deadLettersTopic } from '#control-plane/message-codec.ts';
import type { DeadLetterStep, DeadLetterType } from './events.ts';
import type { DeadLetter } from './state.ts';

/** The subject of a message, as far as its consumer knows it. */
interface MessageSubject {
  readonly key: string;
  readonly environmentUid: string;
  readonly integration?: string;
  readonly connectionId?: string;
  readonly runId?: string;
}

/** A message with its whole content, parked. */
export function deadLetterStepMessage(
  subject: MessageSubject,
  deadLetter: Omit<DeadLetterStep, 'letter_id' | 'order_key'>,
): PublicMessage {
  const value = { ...deadLetter, letter_id: null, order_key: null };
  return { ...subject, topic: deadLettersTopic, type: 'svc.dead-letter.added', value };
}

/** A request or an outcome for a dead letter. It has the key of the dead letter, so that both are in one partition. */
export function stepMessage(
  subject: MessageSubject,
  ref: Pick<DeadLetterStep, 'consumer' | 'topic' | 'partition' | 'offset'> & {
    readonly id: string;
  },
  step: {
    readonly type: Exclude<DeadLetterType, 'svc.dead-letter.added'>;
    readonly attempts?: number;
    readonly errorCode?: string;
    readonly errorMessage?: string;
    readonly orderKey?: string | null;
  },
): PublicMessage {
  const { id, consumer, topic, partition, offset } = ref;
  const { type, attempts = 0, errorCode = '', errorMessage = '', orderKey = null } = step;
  const value: DeadLetterStep = {
    consumer,
    topic,
    partition,
    offset,
    attempts,
    error_code: errorCode,
    error_message: errorMessage,
    letter_id: id,
    order_key: orderKey,
    key: null,
    value: null,
    headers: {},
  };
  return { ...subject, topic: deadLettersTopic, type, value: { ...value } };
}

/** The names of a dead letter, for messages about it. */
export const aboutDeadLetter = (deadLetter: DeadLetter): MessageSubject => ({
  key: deadLetter.key,
  environmentUid: deadLetter.environmentUid,
  ...(deadLetter.integration === null ? {} : { integration: deadLetter.integration }),
  ...(deadLetter.connectionId === null ? {} : { connectionId: deadLetter.connectionId }),
  ...(deadLetter.runId === null ? {} : { runId: deadLetter.runId }),
});
