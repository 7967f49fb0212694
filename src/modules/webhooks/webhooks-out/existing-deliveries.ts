import type { PublicMessage } from '../../../control-plane/entity.ts';
import { readableStep } from './deliveries.ts';
import type { WebhookOut } from './events.ts';
import type { EventLog, Position } from '../../../ports/event-log.ts';
import type { Schemas } from '../../../ports/schemas.ts';
import { topics } from '../../../../streams/topics.ts';

const deliveriesTopic = 'svc.webhooks-out.v1';
const rememberedMs = topics[deliveriesTopic].cleanup.retentionMs - 86_400_000;
/** Maximum clock skew between two nodes. */
const skewMs = 300_000;

/** Names of webhooks, by message and endpoint. */
export type Names = ReadonlySet<string>;
export const noNames: Names = new Set();
const nameOf = (ref: Pick<WebhookOut, 'message_id' | 'endpoint_id'>): string =>
  `${ref.message_id}/${ref.endpoint_id}`;

/** False for events so old that the log no longer contains their webhooks. */
export const isRemembered = (at: number, now: number): boolean => now - at <= rememberedMs;

/**
 * The webhooks created since the event at the position, so that a replay creates only the missing ones. The topic and
 * the webhooks of a connection are on partitions of the same number.
 */
export async function existingDeliveries(
  { log, schemas }: { readonly log: EventLog; readonly schemas: Schemas },
  from: Position,
  signal: AbortSignal,
): Promise<Names> {
  const codec = await schemas.codec<WebhookOut>(deliveriesTopic);
  const since = await timeAt(log, from, signal);
  const names = new Set<string>();
  if (since === null) return names;
  const { partition } = from;
  const offset = await log.offsetAt(deliveriesTopic, partition, since - skewMs);
  for await (const batch of log.read({ topic: deliveriesTopic, partition, offset }, { signal })) {
    for (const { value } of batch.messages) {
      const step = readableStep(codec, value);
      if (step?.action === 'created') names.add(nameOf(step));
    }
  }
  return names;
}

/** Timestamp of the first message from the position; null when there is none. */
async function timeAt(log: EventLog, from: Position, signal: AbortSignal): Promise<number | null> {
  for await (const batch of log.read(from, { signal, maxBytes: 1 })) {
    const [first] = batch.messages;
    if (first !== undefined) return first.timestamp;
  }
  return null;
}

/** The deliveries that do not exist yet. The values are steps, because `deliveriesOf` creates nothing else. */
export const missingOf = (messages: readonly PublicMessage[], made: Names): PublicMessage[] =>
  messages.filter(({ value }) => !made.has(nameOf(value as unknown as WebhookOut)));
