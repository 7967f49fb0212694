import type { IdempotentCall } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { consumerGroup, isConsumerGroup } from '#streams/consumer-groups.ts';
import { aboutDeadLetter, stepMessage } from '#streams/dead-letters/messages.ts';
import type { DeadLetter } from '#streams/dead-letters/state.ts';
import type { OperationsServices } from '../services.ts';
import { shownMessage, type ShownMessage } from './content.ts';
import type { DeadLetters } from './view.ts';

type Deps = Pick<OperationsServices, 'deadLetters' | 'publisher' | 'schemas'>;

export interface Ordering {
  readonly actor: string;
  readonly idempotency?: IdempotentCall;
}

/** How long a response waits for the consumer. */
const outcomeWithinMs = 5_000;

/** @throws GatewayError `not_found` */
export async function findDeadLetter({ deadLetters }: Deps, id: string): Promise<DeadLetter> {
  await deadLetters.caughtUp();
  const deadLetter = deadLetters.tables.get(id);
  if (deadLetter !== null) return deadLetter;
  throw new GatewayError('not_found', { message: `The dead letter ${id} does not exist.` });
}

/** The message of the dead letter; null after the log has deleted it. */
export async function messageOf(
  { deadLetters, schemas }: Deps,
  deadLetter: DeadLetter,
): Promise<ShownMessage | null> {
  const content = await deadLetters.valueAt(deadLetter.place);
  return content === null ? null : shownMessage(schemas, deadLetter.topic, content);
}

/**
 * Makes the consumer that parked the message retry it, and waits for a limited time for the
 * outcome.
 * @throws GatewayError `not_found`; `conflict` unless it is parked
 */
export async function retryDeadLetter(deps: Deps, id: string, by: Ordering): Promise<DeadLetter> {
  const { consumer } = await findDeadLetter(deps, id);
  const reason = isConsumerGroup(consumer) ? consumerGroup(consumer).noRetry : undefined;
  if (reason !== undefined) {
    throw new GatewayError('conflict', {
      message: `${consumer} does not retry messages. ${reason}`,
    });
  }
  const ordered = await order(deps, id, 'svc.dead-letter.retried', by);
  return outcomeSoon(deps.deadLetters, ordered);
}

/** @throws GatewayError `not_found`; `conflict` unless it is parked or dropped */
export async function dropDeadLetter(deps: Deps, id: string, by: Ordering): Promise<void> {
  const deadLetter = await findDeadLetter(deps, id);
  if (deadLetter.state !== 'dropped') await order(deps, id, 'svc.dead-letter.dropped', by);
}

async function order(
  deps: Deps,
  id: string,
  type: 'svc.dead-letter.retried' | 'svc.dead-letter.dropped',
  { actor, idempotency }: Ordering,
): Promise<DeadLetter> {
  const deadLetter = await findDeadLetter(deps, id);
  const orderKey =
    idempotency === undefined ? null : `${type}/${actor}/${idempotency.idempotencyKey}`;
  const isKnown = (subject: DeadLetter): boolean =>
    orderKey !== null && subject.order?.key === orderKey;
  if (isKnown(deadLetter)) return deadLetter;
  if (deadLetter.state !== 'parked') throw notParked(deadLetter);
  const message = stepMessage(aboutDeadLetter(deadLetter), deadLetter, { type, orderKey });
  const [position] = await deps.publisher.publish([message], actor);
  const now = await findDeadLetter(deps, id);
  // Two requests may be concurrent: the log decides which came first.
  if (now.order?.offset !== position?.offset && !isKnown(now)) throw notParked(now);
  return now;
}

const notParked = ({ id, state }: DeadLetter): GatewayError =>
  new GatewayError('conflict', {
    message: `The dead letter ${id} is ${state}: only a parked one can be retried or dropped.`,
  });

async function outcomeSoon(deadLetters: DeadLetters, ordered: DeadLetter): Promise<DeadLetter> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const now = (): DeadLetter => deadLetters.tables.get(ordered.id) ?? ordered;
  const look = (): void => {
    if (now().state !== 'retrying') resolve(undefined);
  };
  const stop = deadLetters.onChange(look);
  const timer = setTimeout(resolve, outcomeWithinMs, undefined);
  look();
  try {
    await promise;
    return now();
  } finally {
    clearTimeout(timer);
    stop();
  }
}
