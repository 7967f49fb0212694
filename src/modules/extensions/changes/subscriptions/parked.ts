import { changesAt } from '#modules/records/history/logged-changes.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import type { MessagePlace } from '../fields.ts';
import { ChangeReader, type FeedServices } from '../read-changes.ts';
import type { Subscription } from './subscription.ts';

/**
 * The change at the place, as the subscription reads it; null: the log has none there (any more), or it is none of the
 * subscription's.
 * @throws GatewayError `log_unavailable`
 */
export async function parkedText(
  services: FeedServices,
  { environmentUid, filter }: Subscription,
  { partition, offset }: MessagePlace,
): Promise<string | null> {
  const partitions = await services.log.partitions(recordsTopic);
  if (partition >= partitions) return null;
  const codec = await services.schemas.codec<RecordChange>(recordsTopic);
  const reader = new ChangeReader(services, { environmentUid, filter }, codec);
  for await (const [, change] of changesAt(services, partition, [offset])) {
    return change === null ? null : reader.textOf(change, { partition, offset });
  }
  return null;
}
