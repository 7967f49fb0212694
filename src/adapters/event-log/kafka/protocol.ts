import type { ProtocolCall } from 'kafkajs/src/broker/index.js';
import Decoder from 'kafkajs/src/protocol/decoder.js';
import Encoder from 'kafkajs/src/protocol/encoder.js';
import type { AbortedTransaction } from './record-decoder.ts';

/**
 * Requests that this adapter encodes itself, because kafkajs fails all partitions for the first error of any,
 * decodes every record at once, or lacks the version. Versions are those of Kafka 2.5 and later.
 */
interface Call<T> {
  readonly name: string;
  readonly key: number;
  readonly version: number;
  readonly encode: (encoder: Encoder) => void;
  readonly decode: (decoder: Decoder) => T;
}

function protocolCall<T>({ name, key, version, encode, decode }: Call<T>): ProtocolCall<T> {
  return {
    request: {
      apiKey: key,
      apiVersion: version,
      apiName: name,
      encode: () => {
        const encoder = new Encoder();
        encode(encoder);
        return Promise.resolve(encoder);
      },
    },
    response: {
      decode: (raw) => Promise.resolve(decode(new Decoder(raw))),
      parse: (decoded) => Promise.resolve(decoded),
    },
  };
}

function array<T>(encoder: Encoder, items: readonly T[], write: (item: T) => void): void {
  encoder.writeInt32(items.length);
  items.forEach(write);
}

function items<T>(decoder: Decoder, read: () => T): T[] {
  return counted(decoder, Math.max(decoder.readInt32(), 0), read);
}

/** The length is one more than the number. */
function compactItems<T>(decoder: Decoder, read: () => T): T[] {
  return counted(decoder, decoder.readUVarInt() - 1, read);
}

/** Each item has at least one byte: an invalid length fails here instead of exhausting memory or time. */
function counted<T>(decoder: Decoder, count: number, read: () => T): T[] {
  if (!decoder.canReadBytes(count))
    throw new RangeError(`a list of ${count} items goes beyond its end`);
  const list: T[] = [];
  for (let left = count; left > 0; left--) list.push(read());
  return list;
}

function skipTaggedFields(decoder: Decoder): void {
  counted(decoder, decoder.readUVarInt(), () => {
    decoder.readUVarInt(); // tag
    decoder.readBytes(decoder.readUVarInt());
  });
}

/** Groups items by topic: requests name each topic once. */
export function byTopic<T extends { readonly topic: string }>(all: readonly T[]): [string, T[]][] {
  return [...Map.groupBy(all, ({ topic }) => topic)];
}

export interface BrokerAddress {
  readonly nodeId: number;
  readonly host: string;
  readonly port: number;
  readonly rack: string | null;
}

export interface TopicMetadata {
  readonly errorCode: number;
  readonly topic: string;
  /** Node ids of the leaders by partition; negative where there is none. */
  readonly leaders: number[];
}

export interface Metadata {
  readonly brokers: BrokerAddress[];
  readonly clusterId: string | null;
  readonly topics: TopicMetadata[];
}

export const metadataCall = (topics: readonly string[]): ProtocolCall<Metadata> =>
  protocolCall({
    name: 'Metadata',
    key: 3,
    version: 6,
    encode: (target) => {
      array(target, topics, (topic) => target.writeString(topic));
      target.writeBoolean(false); // makes no topics
    },
    decode: (from) => {
      from.readInt32(); // throttle
      const brokers = items(from, () => ({
        nodeId: from.readInt32(),
        host: from.readString() ?? '',
        port: from.readInt32(),
        rack: from.readString(),
      }));
      const clusterId = from.readString();
      from.readInt32(); // controller
      return { brokers, clusterId, topics: items(from, () => topicMetadata(from)) };
    },
  });

function topicMetadata(decoder: Decoder): TopicMetadata {
  const errorCode = decoder.readInt16();
  const topic = decoder.readString() ?? '';
  decoder.readBoolean(); // internal
  const leaders: number[] = [];
  items(decoder, () => {
    decoder.readInt16(); // error of the partition: it then has no leader
    const partition = decoder.readInt32();
    leaders[partition] = decoder.readInt32();
    for (let lists = 0; lists < 3; lists++) items(decoder, () => decoder.readInt32()); // replicas
  });
  return { errorCode, topic, leaders };
}

const topicResource = 2;
const setValue = 0;

/** Sets these settings of a topic and leaves others unchanged (IncrementalAlterConfigs); returns the error code. */
export const alterConfigCall = (
  topic: string,
  settings: Readonly<Record<string, string>>,
): ProtocolCall<number> =>
  protocolCall({
    name: 'IncrementalAlterConfigs',
    key: 44,
    version: 0,
    encode: (target) => {
      target.writeInt32(1).writeInt8(topicResource).writeString(topic);
      array(target, Object.entries(settings), ([name, value]) => {
        target.writeString(name).writeInt8(setValue).writeString(value);
      });
      target.writeBoolean(false); // not only a check
    },
    decode: (from) => {
      from.readInt32(); // throttle
      const [code = 0] = items(from, () => {
        const errorCode = from.readInt16();
        from.readString(); // message
        from.readInt8();
        from.readString(); // the topic
        return errorCode;
      });
      return code;
    },
  });

export interface ProducedBatch {
  readonly topic: string;
  readonly partition: number;
  readonly batch: Buffer;
}

export interface ProduceAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  readonly baseOffset: number;
}

/** Acknowledged by all replicas in sync. */
export const produceCall = (
  batches: readonly ProducedBatch[],
  transactionalId: string | null,
  timeoutMs: number,
): ProtocolCall<ProduceAnswer[]> =>
  protocolCall({
    name: 'Produce',
    key: 0,
    version: 7,
    encode: (target) => {
      target.writeString(transactionalId).writeInt16(-1).writeInt32(timeoutMs);
      array(target, byTopic(batches), ([topic, ofTopic]) => {
        target.writeString(topic);
        array(target, ofTopic, ({ partition, batch }) => {
          target.writeInt32(partition).writeInt32(batch.length).writeBuffer(batch);
        });
      });
    },
    decode: (from) =>
      items(from, () => {
        const topic = from.readString() ?? '';
        return items(from, () => {
          const partition = from.readInt32();
          const errorCode = from.readInt16();
          const baseOffset = Number(from.readInt64());
          from.readInt64(); // append time
          from.readInt64(); // start offset
          return { topic, partition, errorCode, baseOffset };
        });
      }).flat(),
  });

export interface FetchPlace {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface FetchOptions {
  readonly maxWaitMs: number;
  readonly maxBytes: number;
  readonly partitionBytes: number;
}

export interface FetchedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
  readonly aborted: AbortedTransaction[];
  readonly records: Buffer;
}

const readCommitted = 1;

/** Committed messages at the positions, in order, up to `maxBytes`. */
export const fetchCall = (
  places: readonly FetchPlace[],
  { maxWaitMs, maxBytes, partitionBytes }: FetchOptions,
): ProtocolCall<FetchedPartition[]> =>
  protocolCall({
    name: 'Fetch',
    key: 1,
    version: 11,
    encode: (target) => {
      target.writeInt32(-1).writeInt32(maxWaitMs).writeInt32(1).writeInt32(maxBytes);
      target.writeInt8(readCommitted).writeInt32(0).writeInt32(-1); // no session
      array(target, places, ({ topic, partition, offset }) => {
        target.writeString(topic).writeInt32(1).writeInt32(partition).writeInt32(-1);
        target.writeInt64(offset).writeInt64(-1).writeInt32(partitionBytes);
      });
      target.writeInt32(0).writeString(''); // forgets none; no rack
    },
    decode: (from) => {
      from.readInt32(); // throttle
      const errorCode = from.readInt16();
      from.readInt32(); // session
      return items(from, () => {
        const topic = from.readString() ?? '';
        return items(from, () => fetchedPartition(from, topic, errorCode));
      }).flat();
    },
  });

function fetchedPartition(decoder: Decoder, topic: string, errorOfAll: number): FetchedPartition {
  const partition = decoder.readInt32();
  const errorCode = decoder.readInt16();
  for (let offsets = 0; offsets < 3; offsets++) decoder.readInt64();
  const aborted = items(decoder, () => ({
    producerId: decoder.readInt64(),
    firstOffset: Number(decoder.readInt64()),
  }));
  decoder.readInt32(); // preferred replica
  const records = decoder.readBytes() ?? Buffer.alloc(0);
  return { topic, partition, errorCode: errorCode || errorOfAll, aborted, records };
}

export interface CommittedAnswer {
  readonly errorCode: number;
  readonly partitions: { partition: number; offset: number; errorCode: number }[];
}

/** The committed offsets of a group; an error while a transaction may still change them. */
export const committedCall = (
  group: string,
  topic: string,
  partitions: number,
): ProtocolCall<CommittedAnswer> =>
  protocolCall({
    name: 'OffsetFetch',
    key: 9,
    version: 7,
    encode: (target) => {
      target.writeUVarInt(0).writeUVarIntString(group).writeUVarInt(2); // tags; one topic
      target.writeUVarIntString(topic).writeUVarInt(partitions + 1);
      for (let partition = 0; partition < partitions; partition++) target.writeInt32(partition);
      target.writeUVarInt(0).writeBoolean(true).writeUVarInt(0); // only stable offsets
    },
    decode: (from) => {
      skipTaggedFields(from);
      from.readInt32(); // throttle
      const partitions = compactItems(from, () => {
        from.readUVarIntString(); // topic
        const ofTopic = compactItems(from, () => committedPartition(from));
        skipTaggedFields(from);
        return ofTopic;
      }).flat();
      return { errorCode: from.readInt16(), partitions };
    },
  });

function committedPartition(decoder: Decoder): CommittedAnswer['partitions'][number] {
  const partition = decoder.readInt32();
  const offset = Number(decoder.readInt64());
  decoder.readInt32(); // leader epoch
  decoder.readUVarIntString(); // metadata
  const errorCode = decoder.readInt16();
  skipTaggedFields(decoder);
  return { partition, offset, errorCode };
}
