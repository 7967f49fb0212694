import type { ConnectionOptions } from 'node:tls';
import type { SASLOptions } from 'kafkajs';
import { systemClock, type Clock } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import { KafkaClient } from './client.ts';
import { GroupTrouble } from './group-trouble.ts';
import { Names } from './names.ts';
import { Reachability, type KafkaLogger, type Outage } from './reachability.ts';

export interface KafkaLogOptions {
  /** `host:port` of some brokers. */
  readonly brokers: readonly string[];
  readonly ssl?: ConnectionOptions | boolean;
  readonly sasl?: SASLOptions;
  readonly clientId?: string;
  /** Replaces `svc` in the names of topics, groups and transactional ids. */
  readonly prefix?: string;
  /** Copies of each partition of new topics. Default: 3, or one on each broker where there are fewer. */
  readonly replication?: number;
  /** Timestamps messages that have none. */
  readonly clock?: Clock;
  /** Creates topics that accept timestamps far ahead of the broker's clock: for tests that move theirs. */
  readonly allowsFuture?: boolean;
  /** A group member that is silent for this long is considered dead. Default 10 s. */
  readonly sessionTimeoutMs?: number;
  readonly logger?: KafkaLogger;
}

export interface KafkaLog extends AsyncDisposable {
  readonly log: EventLog;
  /** Null while a broker responds. */
  outage(): Outage | null;
}

/**
 * Connects to Kafka (2.5 or later). One log may be opened per thread, with connections of its own.
 * @throws GatewayError `log_unavailable` when no broker responds in 30 s or authentication fails
 */
export async function openKafkaLog(options: KafkaLogOptions): Promise<KafkaLog> {
  const { ssl, sasl, logger, prefix = 'svc' } = options;
  const reachability = new Reachability(logger);
  const client = new KafkaClient({
    connection: {
      brokers: options.brokers,
      clientId: options.clientId ?? prefix,
      reachability,
      ...(ssl === undefined ? {} : { ssl }),
      ...(sasl === undefined ? {} : { sasl }),
    },
    names: new Names(prefix),
    clock: options.clock ?? systemClock,
    replication: options.replication,
    allowsFuture: options.allowsFuture ?? false,
    sessionTimeoutMs: options.sessionTimeoutMs ?? 10_000,
    trouble: new GroupTrouble(logger),
  });
  try {
    await client.connect();
  } catch (error) {
    await client[Symbol.asyncDispose]();
    throw error;
  }
  return {
    log: client,
    outage: () => reachability.outage,
    [Symbol.asyncDispose]: () => client[Symbol.asyncDispose](),
  };
}
