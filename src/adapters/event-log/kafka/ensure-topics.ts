import { GatewayError } from '#kernel/errors.ts';
import { dayMs } from '#kernel/time.ts';
import { isErasable, type TopicSpec, type Cleanup } from '#ports/event-log.ts';
import type { BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { codeOf, kafkaError, KafkaFailure } from './failure.ts';
import { alterConfigCall, metadataCall } from './protocol.ts';
import { retried } from './retry.ts';

const timeoutMs = 30_000;
const topicResource = 2;

export interface TopicMaker extends NewTopicOptions {
  readonly connection: BrokerConnection;
  readonly metadata: ClusterMetadata;
  readonly replication: number;
}

/** Topics by their Kafka names: creates missing ones, and compares the others. */
export async function ensureTopics(specs: readonly TopicSpec[], maker: TopicMaker): Promise<void> {
  if (specs.length === 0) return;
  const missing = await missingOf(specs, maker.connection);
  await Promise.all(missing.map((spec) => retried(() => create(spec, maker), { timeoutMs })));
  await retried(() => allBrokersKnow(missing, maker.connection), { timeoutMs });
  await tighten(specs, maker.connection);
  const configs = await retried(() => describe(specs, maker.connection), { timeoutMs });
  const drifts = await Promise.all(
    specs.map(async (spec) => drift(spec, await maker.metadata.refresh(spec.name), configs)),
  );
  const found = drifts.filter((one) => one !== null);
  if (found.length > 0) throw new GatewayError('conflict', { message: found.join(' ') });
}

async function missingOf(
  specs: readonly TopicSpec[],
  connection: BrokerConnection,
): Promise<TopicSpec[]> {
  const names = specs.map(({ name }) => name);
  const { topics } = await retried(() => connection.metadata(names), { timeoutMs });
  const unknown = new Set(
    topics
      .filter(({ errorCode }) => errorCode === kafkaError.unknownTopicOrPartition)
      .map(({ topic }) => topic),
  );
  return specs.filter(({ name }) => unknown.has(name));
}

async function create(spec: TopicSpec, maker: TopicMaker): Promise<void> {
  const config = { ...requiredConfig(spec.cleanup), ...initialConfig(spec.cleanup, maker) };
  const configEntries = Object.entries(config).map(([name, value]) => ({ name, value }));
  const broker = await maker.connection.any();
  try {
    await broker.createTopics({
      topics: [
        {
          topic: spec.name,
          numPartitions: spec.partitions,
          replicationFactor: maker.replication,
          configEntries,
        },
      ],
      timeout: timeoutMs,
    });
  } catch (error) {
    if (codeOf(error) !== kafkaError.topicAlreadyExists) throw error;
  }
}

/** Brokers learn of a topic one after the other; a request to a late one would fail with an unknown topic. */
async function allBrokersKnow(
  specs: readonly TopicSpec[],
  connection: BrokerConnection,
): Promise<void> {
  if (specs.length === 0) return;
  const names = specs.map(({ name }) => name);
  const { brokers } = await connection.metadata([]);
  for (const { nodeId } of brokers) {
    const { topics } = await connection.send(nodeId, metadataCall(names));
    for (const { topic, errorCode, leaders } of topics) {
      const code = leaders.some((leader) => leader < 0) ? leaderNotAvailable : errorCode;
      if (code !== kafkaError.none) throw new KafkaFailure(code, topic);
    }
  }
}

const leaderNotAvailable = 5;

/**
 * Earlier releases retained destroyed values longer. If the broker does not allow the change, the following
 * comparison reports it.
 */
async function tighten(specs: readonly TopicSpec[], connection: BrokerConnection): Promise<void> {
  const erasable = specs.filter(isErasable);
  if (erasable.length === 0) return;
  const configs = await retried(() => describe(erasable, connection), { timeoutMs });
  for (const { name, cleanup } of erasable) {
    const wanted = cleanup.policy === 'compact' ? lagConfig(cleanup) : {};
    if (differences(wanted, configs.get(name) ?? {}).length === 0) continue;
    const broker = await connection.any();
    const code = await broker.connectionPool.send(alterConfigCall(name, wanted));
    if (code !== kafkaError.none && code !== kafkaError.authorizationFailed) {
      throw new KafkaFailure(code, name);
    }
  }
}

async function describe(
  specs: readonly TopicSpec[],
  connection: BrokerConnection,
): Promise<ReadonlyMap<string, TopicConfig>> {
  const broker = await connection.any();
  const { resources } = await broker.describeConfigs({
    resources: specs.map(({ name }) => ({ type: topicResource, name })),
  });
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      Object.fromEntries(configEntries.map((one) => [one.configName, one.configValue ?? ''])),
    ]),
  );
}

function drift(
  { name, partitions, cleanup }: TopicSpec,
  leaders: readonly number[],
  configs: ReadonlyMap<string, TopicConfig>,
): string | null {
  const found = differences(requiredConfig(cleanup), configs.get(name) ?? {});
  if (leaders.length !== partitions) {
    found.unshift(`partitions is ${leaders.length} instead of ${partitions}`);
  }
  if (found.length === 0) return null;
  return `The topic ${name} differs from what is needed: ${found.join('; ')}. Fix it there, or use another prefix.`;
}

/**
 * Within this time a superseded value of an erasable topic is in no file of a broker: a minute until its segment
 * may be closed, less until a message closes it, 15 s between two checks of the cleaner, its work, and the delay of
 * the deletion.
 */
export const erasureMs = 5 * 60_000;

type Compaction = Extract<Cleanup, { policy: 'compact' }>;

const mebibyte = 1024 ** 2;

/**
 * A record may have 4 MiB (docs/reference/topics.md#all-topics), and a batch of small messages is kept below 1 MiB
 * (batches.ts); the rest is for key, headers and framing.
 */
const messageBytesMax = 4 * mebibyte + 256 * 1024;

/** Settings of a topic by their names in Kafka. */
type TopicConfig = Readonly<Record<string, string>>;

/** Required settings of a topic with this cleanup: another value breaks guarantees of the port. */
export function requiredConfig(cleanup: Cleanup): TopicConfig {
  return {
    ...retention(cleanup),
    'max.message.bytes': String(messageBytesMax),
    'message.timestamp.type': 'CreateTime',
  };
}

function retention(cleanup: Cleanup): TopicConfig {
  switch (cleanup.policy) {
    case 'compact':
      return {
        'cleanup.policy': 'compact',
        'min.compaction.lag.ms': String(cleanup.minLagMs),
        'delete.retention.ms': String(cleanup.tombstoneMs),
        ...lagConfig(cleanup),
      };
    case 'delete':
      return {
        'cleanup.policy': 'delete',
        'retention.ms': String(cleanup.retentionMs),
        'retention.bytes': '-1',
      };
    case 'none':
      return { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'retention.bytes': '-1' };
  }
}

/** How long the former file of a compacted segment remains. */
const fileDeleteDelayMs = 1_000;

/**
 * How long superseded values remain. Only closed segments are compacted, and their former files are deleted later:
 * both soon if the topic is erasable.
 */
function lagConfig({ maxLagMs, isErasable }: Compaction): TopicConfig {
  const lag = { 'max.compaction.lag.ms': String(maxLagMs) };
  if (isErasable !== true) return lag;
  const segmentMs = String(maxLagMs);
  return { ...lag, 'segment.ms': segmentMs, 'file.delete.delay.ms': String(fileDeleteDelayMs) };
}

interface NewTopicOptions {
  readonly inSyncMin: number;
  /** Accepts any future timestamp; otherwise the broker's limit applies, by default an hour. */
  readonly allowsFuture: boolean;
}

/** Additional settings of a new topic: an operator may change them later. */
export function initialConfig(cleanup: Cleanup, options: NewTopicOptions): TopicConfig {
  return {
    'min.insync.replicas': String(options.inSyncMin),
    'compression.type': 'producer',
    'segment.bytes': String(256 * mebibyte),
    'segment.ms': String(segmentMs(cleanup)),
    ...(options.allowsFuture ? { 'message.timestamp.after.max.ms': String(2n ** 63n - 1n) } : {}),
  };
}

/** Only closed segments are compacted or deleted: none stays open longer than a day, or than the guarantees allow. */
function segmentMs(cleanup: Cleanup): number {
  switch (cleanup.policy) {
    case 'compact':
      return Math.min(dayMs, cleanup.maxLagMs);
    case 'delete':
      return Math.min(dayMs, cleanup.retentionMs);
    case 'none':
      return dayMs;
  }
}

/** The settings that differ, each as `name is … instead of …`. */
export function differences(wanted: TopicConfig, found: TopicConfig): string[] {
  return Object.entries(wanted)
    .filter(([name, value]) => found[name] !== value)
    .map(([name, value]) => `${name} is ${found[name] ?? 'not set'} instead of ${value}`);
}
