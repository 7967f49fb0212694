import type { Logger } from 'pino';
import {
  commandsTopic,
  deadLettersTopic,
  type CommandValue,
} from '../../../control-plane/message-codec.ts';
import type { Clock } from '../../../kernel/time.ts';
import { deadLetterHeader, type DeadLetterValue } from '../../../../streams/dead-letters/events.ts';
import type { DeadLetter } from '../../../../streams/dead-letters/state.ts';
import type { DeadLetters } from './view.ts';
import { recordCommandsTopic } from '../../records/commands.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Codec, Schemas } from '../../../ports/schemas.ts';
import type { OperatorRequests } from '../../../../streams/reactor/reactor.ts';
import { startReactor } from '../../../../streams/reactor/runner.ts';

/** How long a command that is given again may wait for its decision. */
const decideWithinMs = 3_600_000;
/** Topics whose consumers are owners: they take a command again from its topic. */
const ownedTopics = new Set<string>([recordCommandsTopic, commandsTopic]);

export interface CommandRetriesDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly orders: OperatorRequests;
}

/**
 * Gives owners the commands again that operators want to be retried: consumer group `svc.command-retries`. The
 * header names the letter, so that the owner says what came of it; one that is given twice is decided once.
 */
export async function startCommandRetries(deps: CommandRetriesDeps): Promise<AsyncDisposable> {
  const { log, schemas, deadLetters } = deps;
  const letters = await schemas.codec<DeadLetterValue>(deadLettersTopic);
  const commands = await schemas.codec<CommandValue>(commandsTopic);
  return startReactor({
    log,
    group: 'svc.command-retries',
    topic: deadLettersTopic,
    logger: deps.logger,
    orders: deps.orders,
    async handle({ message }) {
      const step = message.value === null ? null : letters.decode(message.value);
      if (step?.type !== 'svc.dead-letter.retried' || !ownedTopics.has(step.topic)) return;
      await deadLetters.caughtUp();
      const deadLetter = deadLetters.get(step.letter_id ?? '');
      // An order that came too late, or one that was carried out already.
      if (deadLetter?.state !== 'retrying' || deadLetter.order?.offset !== message.offset) return;
      const content = await deadLetters.open(deadLetter);
      if (content?.value === null || content === null) return;
      const value = fresh(deps, commands, deadLetter, Buffer.from(content.value));
      const headers = { 'content-type': 'application/avro', [deadLetterHeader]: deadLetter.id };
      const { topic, partition, key } = deadLetter;
      await log.append([{ topic, partition, messages: [{ key, value, headers }] }]);
    },
  });
}

/**
 * A command of the control plane gets time to be decided, and a key under which it is decided once. One that
 * can't be read goes as it is: its owner refuses it again.
 */
function fresh(
  { clock }: CommandRetriesDeps,
  codec: Codec<CommandValue>,
  { id, topic, order }: DeadLetter,
  value: Buffer,
): Buffer {
  if (topic !== commandsTopic) return value;
  let command: CommandValue;
  try {
    command = codec.decode(value);
  } catch {
    return value;
  }
  const deadline = clock.now() + decideWithinMs;
  const key = command.idempotency_key ?? `${deadLetterHeader}/${id}/${order?.offset ?? 0}`;
  return codec.encode({ ...command, deadline, idempotency_key: key });
}
