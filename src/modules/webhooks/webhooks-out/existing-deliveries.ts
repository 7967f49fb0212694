import type { PublicMessage } from '../../../control-plane/entity.ts';
import { readableStep } from './deliveries.ts';
import type { WebhookOut } from './events.ts';
import type { EventLog, Position } from '../../../ports/event-log.ts';
import type { Schemas } from '../../../ports/schemas.ts';
import { topics } from '../../../../streams/topics.ts';

const deliveriesTopic = 'svc.webhooks-out.v1';
const rememberedMs = topics[deliveriesTopic].cleanup.retentionMs - 86_400_000;
/** How far the clocks of two nodes may be apart. */
const skewMs = 300_000;

/** Names of webhooks, by message and endpoint. */
export type Names = ReadonlySet<string>;
export const noNames: Names = new Set();
const nameOf = (ref: Pick<WebhookOut, 'message_id' | 'endpoint_id'>): string =>
  `${ref.message_id}/${ref.endpoint_id}`;

/** False for what is so old that the log does not know any more which webhooks were made of it. */
export const isRemembered = (at: number, now: number): boolean => now - at <= rememberedMs;

/**
 * The webhooks made since the event at the place was written, so that a replay makes only those that are
 * missing. The topic and the webhooks of a connection are on partitions of the same number.
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

/** When the first message from the place on was written; null when there is none. */
async function timeAt(log: EventLog, from: Position, signal: AbortSignal): Promise<number | null> {
  for await (const batch of log.read(from, { signal, maxBytes: 1 })) {
    const [first] = batch.messages;
    if (first !== undefined) return first.timestamp;
  }
  return null;
}

/** Those that were not made yet. The values are steps: `deliveriesOf` makes nothing else. */
export const missingOf = (messages: readonly PublicMessage[], made: Names): PublicMessage[] =>
  messages.filter(({ value }) => !made.has(nameOf(value as unknown as WebhookOut)));
