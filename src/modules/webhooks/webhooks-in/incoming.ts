import type { Logger } from 'pino';
import { openTopicView, type TopicView } from '../../../control-plane/topic-view.ts';
import type { Clock } from '../../../kernel/time.ts';
import type { EventLog } from '../../../ports/event-log.ts';
import type { Codec, Schemas } from '../../../ports/schemas.ts';
import type { WebhookIn } from './events.ts';
import { IncomingStore, layout, type IncomingWebhook } from './incoming-store.ts';

export const incomingTopic = 'svc.webhooks-in.v1';
/** The retention in the log (streams/topics.ts). */
const keptMicros = 14 * 86_400_000_000;

/** The received webhooks in the view of this node, built from `svc.webhooks-in.v1`. */
export interface IncomingWebhooks extends TopicView<IncomingStore> {
  /** The message with the request; null after the log has deleted it. */
  received(webhook: Pick<IncomingWebhook, 'partition' | 'offset'>): Promise<WebhookIn | null>;
}

/** Opens the view of this process and resolves when it has caught up. */
export async function openIncoming(deps: {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `:memory:` keeps it in memory. */
  readonly file: string;
}): Promise<IncomingWebhooks> {
  const { log, schemas, clock, file } = deps;
  const codec = await schemas.codec<WebhookIn>(incomingTopic);
  const view = await openTopicView(deps, {
    topic: incomingTopic,
    file,
    layout,
    open: (database) => new IncomingStore(database),
    apply(store, { partition, messages }) {
      for (const { value, offset } of messages) {
        const step = readableStep(codec, value);
        if (step !== null) store.put(step, partition, offset);
      }
      store.forgetBefore(clock.nowMicros() - keptMicros);
    },
  });
  return { ...view, received: (at) => receivedAt(log, codec, at) };
}

/**
 * The step in a message; null for a tombstone or an unreadable message, which the consumer parks and which must not
 * block the view.
 */
function readableStep(codec: Codec<WebhookIn>, value: Uint8Array | null): WebhookIn | null {
  if (value === null) return null;
  try {
    return codec.decode(value);
  } catch {
    return null;
  }
}

async function receivedAt(
  log: EventLog,
  codec: Codec<WebhookIn>,
  { partition, offset }: Pick<IncomingWebhook, 'partition' | 'offset'>,
): Promise<WebhookIn | null> {
  const from = { topic: incomingTopic, partition, offset };
  for await (const { messages } of log.read(from, { maxBytes: 1 })) {
    const [first] = messages;
    if (first === undefined) continue;
    return first.offset === offset && first.value !== null ? codec.decode(first.value) : null;
  }
  return null;
}
