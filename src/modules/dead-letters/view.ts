import type { Logger } from 'pino';
import { followOn } from '../../control-plane/follow.ts';
import { deadLettersTopic } from '../../control-plane/wire.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Clock } from '../../kernel/time.ts';
import type { Batch, EventLog, ReadMessage } from '../../ports/event-log.ts';
import type { Codec, Schemas } from '../../ports/schemas.ts';
import type { DeadLetterValue } from './events.ts';
import { evolve, parked, type DeadLetter } from './state.ts';
import { DeadLetterStore, type DeadLetterQuery } from './view-store.ts';

/** As long as the log keeps letters (streams/topics.ts). */
const keptMicros = 30 * 86_400_000_000;
const applyWithinMs = 10_000;

/** The dead letters as this node knows them, and the messages they hold. */
export interface DeadLetters extends AsyncDisposable {
  get(id: string): DeadLetter | null;
  /** Newest first. */
  list(query: DeadLetterQuery): DeadLetter[];
  /** Those of the consumer that are to be tried again, oldest first. */
  retrying(consumer: string): DeadLetter[];
  /** The message of a letter; null when the log has let go of it. */
  open(letter: DeadLetter): Promise<DeadLetterValue | null>;
  /** Resolves when the view has what was on the topic at the call. @throws GatewayError `log_unavailable` */
  caughtUp(): Promise<void>;
  /** Called after each batch that the view has taken in. Returns what ends it. */
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
  const store = new DeadLetterStore(file);
  const next = await positionsOf(log, store);
  const view = new View(store, codec, next, clock);
  const ending = new AbortController();
  const from = [...next].map(([partition, offset]) => ({
    topic: deadLettersTopic,
    partition,
    offset,
  }));
  const failed = (err: unknown): void => logger.error({ err }, 'following dead letters failed');
  const { signal } = ending;
  const running = followOn(log, from, (batch) => view.apply(batch), { signal, failed });
  const caughtUp = async (): Promise<void> => {
    await Promise.all(
      [...next.keys()].map(async (partition) => {
        const end = await log.endOffset(deadLettersTopic, partition);
        if (end > (await log.startOffset(deadLettersTopic, partition))) {
          await view.until(partition, end);
        }
      }),
    );
  };
  const close = async (): Promise<void> => {
    ending.abort();
    await running;
    store.close();
  };
  try {
    await caughtUp();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    get: (id) => store.get(id),
    list: (query) => store.list(query),
    retrying: (consumer) => store.retrying(consumer),
    open: (letter) => contentOf(log, codec, letter),
    caughtUp,
    onChange: (listener) => view.onChange(listener),
    [Symbol.asyncDispose]: close,
  };
}

/** Where to go on in each partition: from what was saved, or from the beginning with an empty store. */
async function positionsOf(log: EventLog, store: DeadLetterStore): Promise<Map<number, number>> {
  const partitions = await log.partitions(deadLettersTopic);
  const saved = store.positions();
  for (const [partition, next] of saved) {
    // Beyond the end: this is another log.
    if (partition < partitions && next <= (await log.endOffset(deadLettersTopic, partition))) {
      continue;
    }
    store.clear();
    saved.clear();
  }
  const numbers = Array.from({ length: partitions }, (_, number) => number);
  return new Map(numbers.map((number) => [number, saved.get(number) ?? 0]));
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

class View {
  readonly #store: DeadLetterStore;
  readonly #codec: Codec<DeadLetterValue>;
  readonly #next: Map<number, number>;
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();

  constructor(
    store: DeadLetterStore,
    codec: Codec<DeadLetterValue>,
    next: Map<number, number>,
    clock: Clock,
  ) {
    this.#store = store;
    this.#codec = codec;
    this.#next = next;
    this.#clock = clock;
  }

  apply({ partition, messages, next }: Batch): void {
    this.#store.advance(partition, next, () => {
      for (const message of messages) this.#take(partition, message);
      this.#store.forgetBefore(this.#clock.nowMicros() - keptMicros);
    });
    this.#next.set(partition, next);
    for (const listener of [...this.#listeners]) listener();
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Resolves when the partition was taken in up to the offset. @throws GatewayError `log_unavailable` */
  async until(partition: number, offset: number): Promise<void> {
    const isThere = (): boolean => (this.#next.get(partition) ?? 0) >= offset;
    if (isThere()) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const stop = this.onChange(() => {
      if (isThere()) resolve(undefined);
    });
    const timer = setTimeout(() => {
      const message = 'This node has not yet read the dead letters.';
      reject(new GatewayError('log_unavailable', { message }));
    }, applyWithinMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      stop();
    }
  }

  #take(partition: number, { value, offset }: ReadMessage): void {
    if (value === null) return;
    const step = this.#codec.decode(value);
    const { type, letter_id: id } = step;
    if (type === 'svc.dead-letter.added') {
      if (this.#store.get(step.event_id) === null) {
        this.#store.put(parked(step, { partition, offset }));
      }
      return;
    }
    const letter = id === null ? null : this.#store.get(id);
    if (letter !== null) this.#store.put(evolve(letter, step, offset));
  }
}
