import {
  commandsTopic,
  deadLettersTopic,
  type CommandValue,
} from '#control-plane/message-codec.ts';
import type { Clock } from '#kernel/time.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import type { Codec } from '#ports/schemas.ts';
import { deadLetterHeader, type DeadLetterValue } from '#streams/dead-letters/events.ts';
import type { DeadLetter } from '#streams/dead-letters/state.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { DeadLetters } from './view.ts';

/** Deadline of a retried command. */
const decideWithinMs = 3_600_000;
/** Topics whose consumers are owners: a retry appends the command to its topic again. */
const ownedTopics = new Set<string>([recordCommandsTopic, commandsTopic]);

interface CommandRetriesDeps extends ReactorDeps {
  readonly deadLetters: DeadLetters;
  readonly clock: Clock;
}

/**
 * Appends the commands that operators retry to their topics: consumer group `svc.command-retries`. The header names the
 * dead letter, so that the owner reports the outcome; a command that is appended twice is decided once.
 */
export async function startCommandRetries(deps: CommandRetriesDeps): Promise<AsyncDisposable> {
  const { log, schemas, deadLetters } = deps;
  const commands = await schemas.codec<CommandValue>(commandsTopic);
  return startReactor<DeadLetterValue>(deps, {
    group: 'svc.command-retries',
    topic: deadLettersTopic,
    async handle(step, { message }) {
      if (step.type !== 'svc.dead-letter.retried' || !ownedTopics.has(step.topic)) return;
      await deadLetters.caughtUp();
      const deadLetter = deadLetters.tables.get(step.letter_id ?? '');
      // A request that arrived too late, or was already executed.
      if (deadLetter?.state !== 'retrying' || deadLetter.order?.offset !== message.offset) return;
      const content = await deadLetters.valueAt(deadLetter.place);
      if (content?.value === null || content === null) return;
      const value = fresh(deps, commands, deadLetter, Buffer.from(content.value));
      const headers = { 'content-type': 'application/avro', [deadLetterHeader]: deadLetter.id };
      const { topic, partition, key } = deadLetter;
      await log.append([{ topic, partition, messages: [{ key, value, headers }] }]);
    },
  });
}

/**
 * A command of the control plane gets a new deadline, and a key under which it is decided once. An unreadable command
 * is appended unchanged: its owner refuses it again.
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
