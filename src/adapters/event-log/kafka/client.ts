import { randomUUID } from 'node:crypto';
import { setImmediate as breathe } from 'node:timers/promises';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import type {
  Batch,
  GroupPositions,
  EventLog,
  FollowOptions,
  GroupHandler,
  JoinOptions,
  Membership,
  PartitionMessages,
  Position,
  TopicSpec,
  TransactionalWriter,
} from '#ports/event-log.ts';
import { Appender } from './appender.ts';
import { Addresses, BrokerConnection, type BrokerConnectionOptions } from './broker-connection.ts';
import { ClusterMetadata } from './cluster-metadata.ts';
import { ensureTopics, erasureMs } from './ensure-topics.ts';
import { asLogError, logClosed } from './failure.ts';
import { PartitionFeed } from './feed.ts';
import { Fetcher } from './fetcher.ts';
import type { GroupTrouble } from './group-trouble.ts';
import { KafkaMembership } from './membership.ts';
import type { Names } from './names.ts';
import { Offsets } from './offsets.ts';
import { Positions } from './positions.ts';
import { retried } from './retry.ts';
import { openWriter, type KafkaWriter } from './writer.ts';

const connectTimeoutMs = 30_000;
const appendTimeoutMs = 30_000;
const batchBytesDefault = 4 * 1024 ** 2;
/** How long a broker waits for messages before it responds; upper bound of a new reader's delay. */
const followWaitMs = 100;
/** The messages to read exist: an empty response means that a leader has just moved. */
const readWaitMs = 10;

interface ClientOptions {
  readonly connection: BrokerConnectionOptions;
  readonly names: Names;
  readonly clock: Clock;
  readonly replication: number | undefined;
  readonly allowsFuture: boolean;
  readonly sessionTimeoutMs: number;
  readonly trouble: GroupTrouble;
}

/** The log in Kafka. Translates names of the port into Kafka's; the classes below use Kafka's only. */
export class KafkaClient implements EventLog {
  readonly erasureMs = erasureMs;
  readonly #options: ClientOptions;
  readonly #addresses = new Addresses();
  readonly #links: BrokerConnection[] = [];
  readonly #connection: BrokerConnection;
  readonly #metadata: ClusterMetadata;
  readonly #appender: Appender;
  readonly #offsets: Offsets;
  readonly #followingFetcher: Fetcher;
  readonly #readingFetcher: Fetcher;
  readonly #positions: Positions;
  readonly #writers = new Set<TransactionalWriter>();
  readonly #memberships = new Set<KafkaMembership>();
  #positionWriter: Promise<KafkaWriter> | null = null;
  #isClosed = false;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connection = this.#openLink();
    this.#metadata = new ClusterMetadata(this.#connection);
    this.#appender = new Appender(this.#openLink(), this.#metadata, options.clock);
    this.#offsets = new Offsets(this.#connection, this.#metadata);
    const metadata = this.#metadata;
    const offsets = this.#offsets;
    this.#followingFetcher = new Fetcher(this.#openLink(), metadata, offsets, followWaitMs);
    this.#readingFetcher = new Fetcher(this.#openLink(), metadata, offsets, readWaitMs);
    this.#positions = new Positions(this.#connection, metadata, (positions) =>
      this.#commitApart(positions),
    );
  }

  /** @throws GatewayError `log_unavailable` when no broker responds in time */
  async connect(): Promise<void> {
    await this.#brokers();
  }

  /** The cluster's id, with the prefix: the topics of another prefix are another log. */
  identity(): Promise<string> {
    return this.#call(async () => {
      const fetchMetadata = () => this.#connection.metadata([]);
      const { clusterId } = await retried(fetchMetadata, { timeoutMs: connectTimeoutMs });
      return `${clusterId ?? ''}/${this.#inKafka('svc.log')}`;
    });
  }

  async ensureTopics(specs: readonly TopicSpec[]): Promise<void> {
    const replication = this.#options.replication ?? Math.min(3, await this.#brokers());
    const named = specs.map((spec) => ({ ...spec, name: this.#options.names.inKafka(spec.name) }));
    const connection = this.#connection;
    const metadata = this.#metadata;
    const { allowsFuture } = this.#options;
    const inSyncMin = replication >= 3 ? 2 : 1;
    const maker = {
      connection,
      metadata,
      replication,
      inSyncMin,
      allowsFuture,
    };
    await this.#call(() => ensureTopics(named, maker));
  }

  partitions(topic: string): Promise<number> {
    return this.#call(() => this.#metadata.partitions(this.#inKafka(topic)));
  }

  async append(
    batch: readonly PartitionMessages[],
    options: { readonly timeoutMs?: number } = {},
  ): Promise<Position[]> {
    const placed = batch.map((one) => ({ ...one, topic: this.#inKafka(one.topic) }));
    return this.#call(async () => {
      for (const { topic, partition } of placed) {
        if (partition >= (this.#metadata.knownPartitions(topic) ?? 0)) {
          await this.#metadata.mustHave(topic, partition);
        }
      }
      const { timeoutMs = appendTimeoutMs } = options;
      return placesOf(batch, await this.#appender.append(placed, timeoutMs));
    });
  }

  async openWriter(name: string): Promise<TransactionalWriter> {
    const writer = await this.#call(() => this.#writer(name));
    const opened: TransactionalWriter = {
      commit: async (batch, positions) => {
        const placed = batch.map((one) => ({ ...one, topic: this.#inKafka(one.topic) }));
        const commit = { placed, positions: positions && this.#consumedInKafka(positions) };
        return placesOf(batch, await writer.commit(commit));
      },
      [Symbol.asyncDispose]: async () => {
        this.#writers.delete(opened);
        await writer[Symbol.asyncDispose]();
      },
    };
    this.#writers.add(opened);
    return opened;
  }

  startOffset(topic: string, partition: number): Promise<number> {
    return this.#call(() => this.#offsets.start(this.#inKafka(topic), partition));
  }

  endOffset(topic: string, partition: number): Promise<number> {
    return this.#call(() => this.#offsets.end(this.#inKafka(topic), partition));
  }

  startOffsets(topic: string): Promise<readonly number[]> {
    return this.#call(() => this.#offsets.starts(this.#inKafka(topic)));
  }

  endOffsets(topic: string): Promise<readonly number[]> {
    return this.#call(() => this.#offsets.ends(this.#inKafka(topic)));
  }

  offsetAt(topic: string, partition: number, timestamp: number): Promise<number> {
    return this.#call(() => this.#offsets.since(this.#inKafka(topic), partition, timestamp));
  }

  async *follow(from: readonly Position[], options: FollowOptions): AsyncGenerator<Batch> {
    const feeds: PartitionFeed[] = [];
    for (const { topic, partition, offset } of from) {
      const name = this.#inKafka(topic);
      await this.#call(() => this.#metadata.mustHave(name, partition));
      feeds.push(new PartitionFeed(topic, name, partition, offset));
    }
    const { maxBytes = batchBytesDefault, signal } = options;
    yield* follow(feeds, this.#followingFetcher, maxBytes, signal);
  }

  read(from: Position, options: Partial<FollowOptions> = {}): AsyncIterable<Batch> {
    const end = this.endOffset(from.topic, from.partition);
    // The iteration throws it.
    end.catch(() => undefined);
    return this.#readTo(from, end, options);
  }

  async join(
    group: string,
    topics: readonly string[],
    handler: GroupHandler,
    { hasPositions = true }: JoinOptions = {},
  ): Promise<Membership> {
    const inKafka = topics.map((topic) => this.#inKafka(topic));
    const counts = await Promise.all(topics.map((topic) => this.partitions(topic)));
    const partitions = counts[0] ?? 0;
    if (counts.some((count) => count !== partitions)) {
      const message = `The topics of the group ${group} have different numbers of partitions.`;
      throw new GatewayError('conflict', { message });
    }
    const membership = new KafkaMembership(
      {
        name: group,
        group: this.#inKafka(group),
        topics: inKafka,
        partitions,
        hasPositions,
        sessionTimeoutMs: this.#options.sessionTimeoutMs,
        trouble: this.#options.trouble,
        asideConnection: this.#connection,
      },
      new BrokerConnection(this.#options.connection, this.#addresses),
      handler,
    );
    this.#memberships.add(membership);
    const left = async (): Promise<void> => {
      await membership[Symbol.asyncDispose]();
      this.#memberships.delete(membership);
    };
    try {
      await membership.ready();
    } catch (error) {
      await left();
      throw asLogError(error);
    }
    return { group, [Symbol.asyncDispose]: left };
  }

  committed(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    return this.#call(() => this.#positions.committed(this.#inKafka(group), this.#inKafka(topic)));
  }

  commit(positions: GroupPositions): Promise<void> {
    const member = [...this.#memberships].find(({ group }) => group === positions.group);
    const identity = member?.identity ?? null;
    return this.#call(() => this.#positions.commit(this.#consumedInKafka(positions), identity));
  }

  deleteBefore({ topic, partition, offset }: Position): Promise<void> {
    return this.#call(() => this.#offsets.deleteBefore(this.#inKafka(topic), partition, offset));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([...this.#memberships].map((one) => one[Symbol.asyncDispose]()));
    const apart = await this.#positionWriter?.catch(() => null);
    await apart?.[Symbol.asyncDispose]();
    await Promise.all([...this.#writers].map((one) => one[Symbol.asyncDispose]()));
    this.#appender.close();
    for (const fetcher of [this.#followingFetcher, this.#readingFetcher])
      fetcher.close(logClosed());
    for (const connection of this.#links) connection[Symbol.dispose]();
  }

  async *#readTo(
    { topic, partition, offset }: Position,
    end: Promise<number>,
    { maxBytes = batchBytesDefault, signal }: Partial<FollowOptions>,
  ): AsyncGenerator<Batch> {
    const feed = new PartitionFeed(topic, this.#inKafka(topic), partition, offset, await end);
    yield* follow([feed], this.#readingFetcher, maxBytes, signal);
  }

  #openLink(): BrokerConnection {
    const connection = new BrokerConnection(this.#options.connection, this.#addresses);
    this.#links.push(connection);
    return connection;
  }

  async #writer(name: string): Promise<KafkaWriter> {
    const connection = new BrokerConnection(this.#options.connection, this.#addresses);
    const transactionalId = this.#inKafka(name);
    return openWriter({ connection, transactionalId }, this.#metadata, this.#options.clock);
  }

  /** Through a writer that only this client uses. */
  async #commitApart(positions: GroupPositions): Promise<void> {
    this.#positionWriter ??= this.#writer(`positions/${randomUUID()}`);
    try {
      await (await this.#positionWriter).commit({ placed: [], positions });
    } catch (error) {
      const failed = this.#positionWriter;
      this.#positionWriter = null;
      await (await failed.catch(() => null))?.[Symbol.asyncDispose]();
      throw error;
    }
  }

  #inKafka(name: string): string {
    return this.#options.names.inKafka(name);
  }

  #consumedInKafka({ group, positions }: GroupPositions): GroupPositions {
    return {
      group: this.#inKafka(group),
      positions: positions.map((at) => ({ ...at, topic: this.#inKafka(at.topic) })),
    };
  }

  /** The number of brokers. */
  #brokers(): Promise<number> {
    return this.#call(async () => {
      const fetchMetadata = () => this.#connection.metadata([]);
      const { brokers } = await retried(fetchMetadata, { timeoutMs: connectTimeoutMs });
      return brokers.length;
    });
  }

  /** Fails once the log is closed; translates errors to those of the port. */
  async #call<T>(task: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw logClosed();
    try {
      return await task();
    } catch (error) {
      throw asLogError(error);
    }
  }
}

const placesOf = (batch: readonly PartitionMessages[], offsets: readonly number[]): Position[] =>
  batch.map(({ topic, partition }, i) => ({ topic, partition, offset: offsets[i] ?? 0 }));

/**
 * Merges the feeds round robin, one batch of each that has messages; ends with the signal, or when every feed has
 * reached its end. Yields to other work of the thread between batches.
 */
async function* follow(
  feeds: readonly PartitionFeed[],
  fetcher: Fetcher,
  maxBytes: number,
  signal: AbortSignal | undefined,
): AsyncGenerator<Batch> {
  let rung = Promise.withResolvers<undefined>();
  const ring = (): void => rung.resolve(undefined);
  signal?.addEventListener('abort', ring);
  const waiting = [...feeds];
  for (const feed of feeds) fetcher.add(feed, ring);
  try {
    while (signal?.aborted !== true && waiting.some((feed) => !feed.isDone)) {
      // Round robin: a partition that returned a batch goes to the end of the queue.
      const index = waiting.findIndex((feed) => feed.isReady);
      if (index < 0) {
        await rung.promise;
        rung = Promise.withResolvers();
        continue;
      }
      const [feed] = waiting.splice(index, 1) as [PartitionFeed];
      waiting.push(feed);
      const batch = feed.take(maxBytes);
      fetcher.taken();
      if (batch === null) continue;
      yield batch;
      await breathe();
    }
  } finally {
    signal?.removeEventListener('abort', ring);
    for (const feed of feeds) fetcher.remove(feed);
  }
}
