import type { Logger } from 'pino';
import { openTopicView } from '../../../control-plane/topic-view.ts';
import { deadLettersTopic } from '../../../control-plane/message-codec.ts';
import type { Clock } from '../../../kernel/time.ts';
import type { EventLog, ReadMessage } from '../../../ports/event-log.ts';
import type { Codec, Schemas } from '../../../ports/schemas.ts';
import type { DeadLetterValue } from '../../../../streams/dead-letters/events.ts';
import { evolve, parked, type DeadLetter } from '../../../../streams/dead-letters/state.ts';
import { DeadLetterStore, deadLetterTables, type DeadLetterQuery } from './view-store.ts';

/** The retention of dead letters in the log (streams/topics.ts). */
const keptMicros = 30 * 86_400_000_000;

/** The dead letters in the view of this node, and their messages. */
export interface DeadLetters extends AsyncDisposable {
  get(id: string): DeadLetter | null;
  /** Newest first. */
  list(query: DeadLetterQuery): DeadLetter[];
  /** Those of the consumer with a requested retry, oldest first. */
  retrying(consumer: string): DeadLetter[];
  /** The message of a dead letter; null after the log has deleted it. */
  open(deadLetter: DeadLetter): Promise<DeadLetterValue | null>;
  /**
   * Resolves when the view has applied the topic up to its end at the time of the call.
   * @throws GatewayError `log_unavailable`
   */
  caughtUp(): Promise<void>;
  /** Called after each batch that the view has applied. Returns a function that unsubscribes. */
  onChange(listener: () => void): () => void;
}

/** Opens the view of this process and resolves when it has caught up. */
export async function openDeadLetters(deps: {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `:memory:` keeps it in memory. */
  readonly file: string;
}): Promise<DeadLetters> {
  const { log, schemas, clock, logger, file } = deps;
  const codec = await schemas.codec<DeadLetterValue>(deadLettersTopic);
  const view = await openTopicView(
    { log, logger },
    {
      topic: deadLettersTopic,
      file,
      layout: deadLetterTables,
      open: (database) => new DeadLetterStore(database),
      apply(store, { partition, messages }) {
        for (const message of messages) take(store, codec, partition, message);
        store.forgetBefore(clock.nowMicros() - keptMicros);
      },
    },
  );
  const store = view.tables;
  return {
    get: (id) => store.get(id),
    list: (query) => store.list(query),
    retrying: (consumer) => store.retrying(consumer),
    open: (deadLetter) => contentOf(log, codec, deadLetter),
    caughtUp: () => view.caughtUp(),
    onChange: (listener) => view.onChange(listener),
    [Symbol.asyncDispose]: () => view[Symbol.asyncDispose](),
  };
}

function take(
  store: DeadLetterStore,
  codec: Codec<DeadLetterValue>,
  partition: number,
  { value, offset }: ReadMessage,
): void {
  if (value === null) return;
  const step = codec.decode(value);
  const { type, letter_id: id } = step;
  if (type === 'svc.dead-letter.added') {
    if (store.get(step.event_id) === null) store.put(parked(step, { partition, offset }));
    return;
  }
  const deadLetter = id === null ? null : store.get(id);
  if (deadLetter !== null) store.put(evolve(deadLetter, step, offset));
}

async function contentOf(
  log: EventLog,
  codec: Codec<DeadLetterValue>,
  { place }: DeadLetter,
): Promise<DeadLetterValue | null> {
  const from = { topic: deadLettersTopic, ...place };
  for await (const batch of log.read(from, { maxBytes: 1 })) {
    const [first] = batch.messages;
    if (first === undefined) continue;
    const isIt = first.offset === place.offset && first.value !== null;
    return isIt ? codec.decode(first.value) : null;
  }
  return null;
}
