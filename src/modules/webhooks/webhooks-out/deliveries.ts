import type { Logger } from 'pino';
import { openTopicView, type TopicView } from '../../../control-plane/topic-view.ts';
import type { Clock } from '../../../kernel/time.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Codec, Schemas } from '../../../ports/schemas.ts';
import { DeliveryStore, layout, type Delivery } from './delivery-store.ts';
import type { WebhookOut } from './events.ts';

export const deliveriesTopic = 'svc.webhooks-out.v1';
/** The retention of deliveries in the log (streams/topics.ts). */
const keptMicros = 30 * 86_400_000_000;

/** The deliveries in the view of this node, built from `svc.webhooks-out.v1`. */
export interface Deliveries extends TopicView<DeliveryStore> {
  /** The `created` message of the delivery, with its body; null after the log has deleted it. */
  created(delivery: Pick<Delivery, 'partition' | 'offset'>): Promise<WebhookOut | null>;
}

/** Opens the view of this process and resolves when it has caught up. */
export async function openDeliveries(deps: {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `:memory:` keeps it in memory. */
  readonly file: string;
}): Promise<Deliveries> {
  const { log, schemas, clock, file } = deps;
  const codec = await schemas.codec<WebhookOut>(deliveriesTopic);
  const view = await openTopicView(deps, {
    topic: deliveriesTopic,
    file,
    layout,
    open: (database) => new DeliveryStore(database),
    apply(store, { partition, messages }) {
      for (const { value, offset } of messages) {
        const step = readableStep(codec, value);
        if (step !== null) store.put(step, partition, offset);
      }
      store.forgetBefore(clock.nowMicros() - keptMicros);
    },
  });
  return { ...view, created: createdReader(log, codec) };
}

/** Bytes read at once for one delivery: the following deliveries are often read next. */
const readAheadBytes = 256 * 1024;

/**
 * Reads deliveries from the log, sequentially per partition; the last chunk is cached, so that concurrent reads are
 * batched.
 */
function createdReader(log: EventLog, codec: Codec<WebhookOut>): Deliveries['created'] {
  const atHand = new Map<number, ReadonlyMap<number, Uint8Array | null>>();
  const turns = new Map<number, Promise<unknown>>();
  const read: Deliveries['created'] = async ({ partition, offset }) => {
    const existing = atHand.get(partition)?.get(offset);
    if (existing !== undefined) return readableStep(codec, existing);
    const from = { topic: deliveriesTopic, partition, offset };
    for await (const { messages } of log.read(from, { maxBytes: readAheadBytes })) {
      const [first] = messages;
      if (first === undefined) continue;
      atHand.set(partition, new Map(messages.map((one) => [one.offset, one.value])));
      return first.offset === offset ? readableStep(codec, first.value) : null;
    }
    return null;
  };
  return (ref) => {
    const before = turns.get(ref.partition) ?? Promise.resolve();
    // Earlier callers got the error of their own read.
    const turn = before.catch(() => undefined).then(() => read(ref));
    turns.set(ref.partition, turn);
    return turn;
  };
}

/**
 * The step in a message; null for a tombstone or an unreadable message, which the consumer parks and which must not
 * block the view.
 */
export function readableStep(
  codec: Codec<WebhookOut>,
  value: Uint8Array | null,
): WebhookOut | null {
  if (value === null) return null;
  try {
    return codec.decode(value);
  } catch {
    return null;
  }
}
