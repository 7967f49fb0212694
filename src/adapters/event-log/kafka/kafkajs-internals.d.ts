/**
 * The parts of kafkajs 2.2.4 below its public interface that this adapter uses: connections with authentication and
 * version negotiation, and its request encodings (docs/adr/0010-kafka-below-the-consumer.md).
 */
declare module 'kafkajs/src/protocol/encoder.js' {
  export default class Encoder {
    constructor(initialSize?: number);
    readonly buffer: Buffer;
    writeInt8(value: number): this;
    writeInt16(value: number): this;
    writeInt32(value: number): this;
    writeInt64(value: number | bigint | string): this;
    writeBoolean(value: boolean): this;
    writeString(value: string | null): this;
    writeBuffer(value: Buffer): this;
    writeUVarInt(value: number): this;
    writeUVarIntString(value: string | null): this;
  }
}

declare module 'kafkajs/src/protocol/decoder.js' {
  export default class Decoder {
    constructor(buffer: Buffer);
    canReadBytes(count: number): boolean;
    readInt8(): number;
    readInt16(): number;
    readInt32(): number;
    readInt64(): bigint;
    readBoolean(): boolean;
    readString(): string | null;
    readBytes(length?: number): Buffer | null;
    readUVarInt(): number;
    readUVarIntString(): string | null;
  }
}

declare module 'kafkajs/src/protocol/request.js' {
  import type { ProtocolCall } from 'kafkajs/src/broker/index.js';
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export default function createRequest(options: {
    readonly correlationId: number;
    readonly clientId: string;
    readonly request: ProtocolCall<unknown>['request'];
  }): Promise<Encoder>;
}

declare module 'kafkajs/src/broker/saslAuthenticator/index.js' {
  import type { ApiVersions, Logger } from 'kafkajs';
  import type { ConnectionPool } from 'kafkajs/src/broker/index.js';

  export default class SaslAuthenticator {
    constructor(
      connection: ConnectionPool,
      logger: Logger,
      versions: ApiVersions,
      hasSaslAuthenticate: boolean,
    );
    /** Milliseconds; 0 = the authentication does not expire. */
    readonly sessionLifetime: string;
    authenticate(): Promise<void>;
  }
}

declare module 'kafkajs/src/broker/index.js' {
  import type {
    ApiVersions,
    FetchOffsetsPartition,
    GroupMember,
    GroupMemberAssignment,
    GroupState,
    ITopicConfig,
    Logger,
    PartitionOffset,
    SASLOptions,
    TopicPartitions,
  } from 'kafkajs';
  import type Encoder from 'kafkajs/src/protocol/encoder.js';

  export interface ProtocolCall<T> {
    readonly request: {
      readonly apiKey: number;
      readonly apiVersion: number;
      readonly apiName: string;
      encode(): Promise<Encoder>;
    };
    readonly response: {
      decode(raw: Buffer): Promise<T>;
      parse(decoded: T): Promise<T>;
    };
    readonly requestTimeout?: number;
  }

  /** The interface through which a broker uses its connections. */
  export interface ConnectionPool {
    readonly host: string;
    readonly port: number;
    readonly sasl: SASLOptions | undefined;
    readonly connectionTimeout: number;
    isConnected(): boolean;
    isAuthenticated(): boolean;
    setVersions(versions: ApiVersions): void;
    getSupportAuthenticationProtocol(): boolean | null;
    getConnection(): Promise<ConnectionPool>;
    authenticate(): Promise<void>;
    send<T>(call: ProtocolCall<T>): Promise<T>;
  }

  interface OfTopic<T> {
    readonly topic: string;
    readonly partitions: readonly T[];
  }

  export interface Producer {
    readonly producerId: string;
    readonly producerEpoch: number;
  }

  interface InTransaction extends Producer {
    readonly transactionalId: string;
  }

  export interface JoinAnswer {
    readonly generationId: number;
    readonly leaderId: string;
    readonly memberId: string;
    readonly members: readonly GroupMember[];
  }

  export default class Broker {
    constructor(options: {
      readonly connectionPool: ConnectionPool;
      readonly logger: Logger;
      readonly allowAutoTopicCreation: boolean;
    });
    readonly connectionPool: ConnectionPool;
    connect(): Promise<void>;
    findGroupCoordinator(options: {
      groupId: string;
      coordinatorType: number;
    }): Promise<{ coordinator: { nodeId: number; host: string; port: number } }>;
    joinGroup(options: {
      groupId: string;
      sessionTimeout: number;
      rebalanceTimeout: number;
      memberId: string;
      groupProtocols: readonly GroupState[];
    }): Promise<JoinAnswer>;
    syncGroup(options: {
      groupId: string;
      generationId: number;
      memberId: string;
      groupAssignment: readonly GroupMemberAssignment[];
    }): Promise<{ memberAssignment: Buffer }>;
    heartbeat(options: {
      groupId: string;
      groupGenerationId: number;
      memberId: string;
    }): Promise<unknown>;
    leaveGroup(options: { groupId: string; memberId: string }): Promise<unknown>;
    /** Resolves also where a group was refused. */
    deleteGroups(groupIds: readonly string[]): Promise<unknown>;
    offsetCommit(options: {
      groupId: string;
      groupGenerationId: number;
      memberId: string;
      topics: readonly OfTopic<FetchOffsetsPartition>[];
    }): Promise<unknown>;
    listOffsets(options: {
      replicaId: number;
      isolationLevel: number;
      topics: readonly OfTopic<{ partition: number; timestamp: string }>[];
    }): Promise<{ responses: readonly OfTopic<PartitionOffset>[] }>;
    initProducerId(options: {
      transactionalId?: string | undefined;
      transactionTimeout: number;
    }): Promise<Producer>;
    addPartitionsToTxn(
      options: InTransaction & { topics: readonly TopicPartitions[] },
    ): Promise<unknown>;
    addOffsetsToTxn(options: InTransaction & { groupId: string }): Promise<unknown>;
    txnOffsetCommit(
      options: InTransaction & {
        groupId: string;
        topics: readonly OfTopic<FetchOffsetsPartition>[];
      },
    ): Promise<unknown>;
    endTxn(options: InTransaction & { transactionResult: boolean }): Promise<unknown>;
    createTopics(options: { topics: readonly ITopicConfig[]; timeout: number }): Promise<unknown>;
    describeConfigs(options: { resources: readonly { type: number; name: string }[] }): Promise<{
      resources: readonly {
        resourceName: string;
        configEntries: readonly { configName: string; configValue: string | null }[];
      }[];
    }>;
    deleteRecords(options: { topics: readonly OfTopic<PartitionOffset>[] }): Promise<unknown>;
  }
}
