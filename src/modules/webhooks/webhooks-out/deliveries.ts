import {
  openTopicView,
  readableValue,
  type TopicView,
  type TopicViewDeps,
} from '#control-plane/topic-view.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { topics } from '#streams/topics.ts';
import { DeliveryStore, layout } from './delivery-store.ts';
import type { WebhookOut } from './events.ts';

export const deliveriesTopic = 'svc.webhooks-out.v1';

/**
 * The deliveries in the view of this node, built from `svc.webhooks-out.v1`; the value at a delivery's position is its
 * `created` message, with the body.
 */
export type Deliveries = TopicView<WebhookOut, DeliveryStore>;

/** Opens the view of this process and resolves when it has caught up. */
export async function openDeliveries(deps: TopicViewDeps): Promise<Deliveries> {
  const view = await openTopicView<WebhookOut, DeliveryStore>(deps, {
    topic: deliveriesTopic,
    keptMs: topics[deliveriesTopic].cleanup.retentionMs,
    layout,
    open: (database) => new DeliveryStore(database),
  });
  const codec = await deps.schemas.codec<WebhookOut>(deliveriesTopic);
  return { ...view, valueAt: createdReader(deps.log, codec) };
}

/** Bytes read at once for one delivery: the following deliveries are often read next. */
const readAheadBytes = 256 * 1024;

/**
 * Reads deliveries from the log, sequentially per partition; the last chunk is cached, so that concurrent reads are
 * batched.
 */
function createdReader(log: EventLog, codec: Codec<WebhookOut>): Deliveries['valueAt'] {
  const atHand = new Map<number, ReadonlyMap<number, Uint8Array | null>>();
  const turns = new Map<number, Promise<unknown>>();
  const read: Deliveries['valueAt'] = async ({ partition, offset }) => {
    const existing = atHand.get(partition)?.get(offset);
    if (existing !== undefined) return readableValue(codec, existing);
    const from = { topic: deliveriesTopic, partition, offset };
    for await (const { messages } of log.read(from, { maxBytes: readAheadBytes })) {
      const [first] = messages;
      if (first === undefined) continue;
      atHand.set(partition, new Map(messages.map((one) => [one.offset, one.value])));
      return first.offset === offset ? readableValue(codec, first.value) : null;
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
