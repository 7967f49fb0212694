import type { PublicMessage } from '../../control-plane/entity.ts';
import { uuidV7 } from '../../kernel/ids.ts';
import { partitionOf } from '../../kernel/partition.ts';
import { isoMicros, type Clock } from '../../kernel/time.ts';
import type { EventLog, Headers, Message, Placed, Position } from '../../ports/event-log.ts';
import type { Codec, Schemas } from '../../ports/schemas.ts';

/** Appends messages to public topics whose writers are no owners: deliveries and log entries. */
export interface Publisher {
  /**
   * Durable when it resolves. Messages of one partition keep their order.
   * @throws GatewayError `log_unavailable`, `log_full`
   */
  publish(messages: readonly PublicMessage[], actor: string): Promise<Position[]>;
}

export interface PublisherDeps {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly clock: Clock;
}

type Value = Readonly<Record<string, unknown>>;
interface Target {
  readonly codec: Codec<Value>;
  readonly partitions: number;
}

export function createPublisher(deps: PublisherDeps): Publisher {
  const targets = new Map<string, Promise<Target>>();
  const open = async (topic: string): Promise<Target> => ({
    codec: await deps.schemas.codec<Value>(topic),
    partitions: await deps.log.partitions(topic),
  });
  const target = (topic: string): Promise<Target> => {
    const known = targets.get(topic);
    if (known !== undefined) return known;
    const opening = open(topic);
    targets.set(topic, opening);
    opening.catch(() => targets.delete(topic));
    return opening;
  };

  return {
    async publish(messages, actor) {
      const placed = new Map<string, Placed & { messages: Message[] }>();
      for (const message of messages) {
        const { topic } = message;
        const { codec, partitions } = await target(topic);
        const partition = partitionOf(message.partitionBy ?? message.key, partitions);
        const slot = `${topic}/${partition}`;
        const list = placed.get(slot) ?? { topic, partition, messages: [] };
        list.messages.push(framed(message, actor, codec, deps.clock));
        placed.set(slot, list);
      }
      return deps.log.append([...placed.values()]);
    },
  };
}

/** The message with the fields and headers that every public message has (contract/topics.md). */
function framed(message: PublicMessage, actor: string, codec: Codec<Value>, clock: Clock): Message {
  const at = clock.nowMicros();
  const { key, type, environmentUid, integration, connectionId, runId, value } = message;
  const id = uuidV7(Math.floor(at / 1000));
  const source = [
    `/environments/${encodeURIComponent(environmentUid)}`,
    integration === undefined ? '' : `/integrations/${encodeURIComponent(integration)}`,
    connectionId === undefined ? '' : `/connections/${encodeURIComponent(connectionId)}`,
  ].join('');
  const headers: Headers = {
    ce_specversion: '1.0',
    ce_id: id,
    ce_type: type,
    ce_source: source,
    ce_subject: key,
    ce_time: isoMicros(at),
    'content-type': 'application/avro',
  };
  if (value === null) return { key, value: null, headers };
  const common = {
    event_id: id,
    type,
    occurred_at: at,
    environment_id: environmentUid,
    integration: integration ?? null,
    connection_id: connectionId ?? null,
    actor,
    run_id: runId ?? null,
  };
  return { key, value: codec.encode({ ...common, ...value }), headers };
}
