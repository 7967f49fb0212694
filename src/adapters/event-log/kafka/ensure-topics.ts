import { GatewayError } from '#kernel/errors.ts';
import { isErasable, type TopicSpec } from '#ports/event-log.ts';
import type { BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { codeOf, kafkaError, KafkaFailure } from './failure.ts';
import { alterConfigCall, metadataCall } from './protocol.ts';
import { retried } from './retry.ts';
import {
  differences,
  initialConfig,
  lagConfig,
  requiredConfig,
  type NewTopicOptions,
  type TopicConfig,
} from './topic-config.ts';

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
