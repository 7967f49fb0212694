import { partitionOf } from '#kernel/partition.ts';
import type { Clock } from '#kernel/time.ts';
import type { Message, PartitionMessages, Position } from '#ports/event-log.ts';
import type { PublicMessage } from './entity.ts';
import type { LogPorts } from './ports.ts';
import { encodePublic, type PublicCodec } from './public-message.ts';

/** Appends messages to public topics that are not written by owners: deliveries and log entries. */
export interface Publisher {
  /**
   * Durable when it resolves. Messages of one partition keep their order.
   * @throws GatewayError `log_unavailable`, `log_full`
   */
  publish(messages: readonly PublicMessage[], actor: string): Promise<Position[]>;
}

export interface PublisherDeps extends LogPorts {
  readonly clock: Clock;
}

interface Target {
  readonly codec: PublicCodec;
  readonly partitions: number;
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const targets = new Map<string, Promise<Target>>();
  const open = async (topic: string): Promise<Target> => ({
    codec: await deps.schemas.codec(topic),
    partitions: await deps.log.partitions(topic),
  });
  const target = (topic: string): Promise<Target> => {
    const existing = targets.get(topic);
    if (existing !== undefined) return existing;
    const opening = open(topic);
    targets.set(topic, opening);
    opening.catch(() => targets.delete(topic));
    return opening;
  };

  return {
    async publish(messages, actor) {
      const placed = new Map<string, PartitionMessages & { messages: Message[] }>();
      let last = '';
      let to: Target | undefined;
      for (const message of messages) {
        const { topic } = message;
        if (to === undefined || topic !== last) to = await target((last = topic));
        const { codec, partitions } = to;
        const partition = partitionOf(message.partitionBy ?? message.key, partitions);
        const slot = `${topic}/${partition}`;
        let list = placed.get(slot);
        if (list === undefined) placed.set(slot, (list = { topic, partition, messages: [] }));
        const at = message.at ?? deps.clock.nowMicros();
        const metadata = { at, actor, causationId: null };
        list.messages.push(encodePublic(message, metadata, codec));
      }
      return deps.log.append([...placed.values()]);
    },
  };
}
