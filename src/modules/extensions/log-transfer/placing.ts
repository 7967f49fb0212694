import {
  controlTopic,
  ownerKey,
  type EntityValue,
  type OwnerNote,
} from '#control-plane/message-codec.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import { partitionOfKey } from '#modules/operations/topics/key-partition.ts';
import {
  headsTopic,
  recordsTopic,
  reservedKey,
  type StreamHeadValue,
} from '#modules/records/model/stream-head.ts';
import { partitionHead } from '#modules/records/owner/state/stream-state.ts';
import { deliveriesTopic } from '#modules/webhooks/webhooks-out/deliveries.ts';
import type { WebhookOut } from '#streams/values.ts';
import type { Entry } from './frames.ts';

/** An entry with its value; null: it is a tombstone, or was never readable. */
export interface DecodedEntry extends Pick<Entry, 'key' | 'headers' | 'timestamp'> {
  readonly value: object | null;
}

/** Where the messages of one partition go in a log with more of them. */
export interface Placement {
  /** Whether messages are placed by their values, too. */
  readonly isByValue: boolean;
  /** Null: nowhere. */
  to(message: DecodedEntry): number | null;
  /** After the last message: what every one of the new partitions gets, as the state of the old one. */
  last(): DecodedEntry | null;
}

/** From how many partitions of the topic to how many. */
export interface Growth {
  readonly from: number;
  readonly to: number;
}

/** One partition per message, and none for all: an owner's notes and the rest of its state are placed by themselves. */
export function placingOf(topic: string, partition: number, growth: Growth): Placement {
  if (growth.from === growth.to) {
    return { isByValue: false, to: () => partition, last: () => null };
  }
  if (topic === headsTopic) return placeHeads(growth);
  if (topic === controlTopic) return placeEntities(growth);
  const isByValue = topic === deliveriesTopic;
  return { isByValue, to: (message) => partitionOfEntry(topic, message, growth), last: () => null };
}

function partitionOfEntry(
  topic: string,
  { key, value }: DecodedEntry,
  { to }: Growth,
): number | null {
  // The filler of an old partition: the new ones get fillers of their own.
  if (topic === recordsTopic && key === reservedKey) return null;
  const placed = partitionOfKey(topic, key, to);
  if (placed !== null || value === null) return placed ?? partitionOf(key, to);
  const {
    environment_id: environment,
    integration,
    connection_id: connection,
  } = value as WebhookOut;
  return partitionOf(joinKey(environment, integration ?? '', connection ?? '-'), to);
}

/** The state of the partition (epoch, last command, last time) is that of all its heads together. */
function placeHeads({ to }: Growth): Placement {
  let last: DecodedEntry | null = null;
  let meta = { epoch: 0, command: -1, lastModifiedAt: 0 };
  return {
    isByValue: true,
    to(message) {
      const { key, value } = message;
      if (value !== null) {
        const { owner_epoch, command_offset, last_modified_at } = value as StreamHeadValue;
        meta = {
          epoch: Math.max(meta.epoch, owner_epoch),
          command: Math.max(meta.command, command_offset),
          lastModifiedAt: Math.max(meta.lastModifiedAt, last_modified_at),
        };
        last = message;
      }
      return key === reservedKey ? null : partitionOf(key, to);
    },
    last: () => (last === null ? null : { ...last, key: reservedKey, value: partitionHead(meta) }),
  };
}

/** An entity is placed by its scope, which a tombstone does not name; one of no known entity removes nothing. */
function placeEntities({ from, to }: Growth): Placement {
  const places = new Map<string, number>();
  let note: DecodedEntry | null = null;
  return {
    isByValue: true,
    to(message) {
      const { key, value } = message;
      if (key === ownerKey) {
        note = message;
        return null;
      }
      if (value === null) return places.get(key) ?? null;
      const place = partitionOf((value as EntityValue).scope, to);
      places.set(key, place);
      return place;
    },
    last() {
      if (note?.value == null) return null;
      const value = note.value as EntityValue;
      const state = JSON.parse(value.state) as OwnerNote;
      // Ids that were given stay given: an owner gives every n-th, n being the number of partitions.
      const numbers = Math.ceil((state.numbers * from) / to);
      return { ...note, value: { ...value, state: JSON.stringify({ ...state, numbers }) } };
    },
  };
}
