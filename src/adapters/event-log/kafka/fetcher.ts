import type { BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { isTransient, KafkaFailure, kafkaError, logUnavailable } from './failure.ts';
import type { PartitionFeed } from './feed.ts';
import type { Offsets } from './offsets.ts';
import { fetchCall, type FetchedPartition } from './protocol.ts';
import { RecordSet } from './record-decoder.ts';
import { pauseMs } from './retry.ts';

/** Bound of fetched, unread bytes over all feeds, as long as single batches are smaller. */
const bufferBytesMax = 64 * 1024 ** 2;
const responseBytesMax = 16 * 1024 ** 2;
const partitionBytesMax = 1024 ** 2;
const partitionBytesMin = 64 * 1024;

/**
 * Fetches for all feeds of one kind together: one request at a time to each broker, for the partitions that it
 * leads and whose feeds have room.
 */
export class Fetcher {
  readonly #connection: BrokerConnection;
  readonly #metadata: ClusterMetadata;
  readonly #offsets: Offsets;
  readonly #maxWaitMs: number;
  readonly #feeds = new Map<PartitionFeed, () => void>();
  readonly #busyNodes = new Set<number>();
  readonly #timers = new Set<NodeJS.Timeout>();
  #isScheduled = false;
  #isClosed = false;

  /** `maxWaitMs`: how long a broker waits for messages before it responds without any. */
  constructor(
    connection: BrokerConnection,
    clusterMetadata: ClusterMetadata,
    offsets: Offsets,
    maxWaitMs: number,
  ) {
    this.#connection = connection;
    this.#metadata = clusterMetadata;
    this.#offsets = offsets;
    this.#maxWaitMs = maxWaitMs;
  }

  /** Fetches for the feed until it is removed; `wake` is called when it has become ready. */
  add(feed: PartitionFeed, wake: () => void): void {
    this.#feeds.set(feed, wake);
    this.#schedule();
  }

  remove(feed: PartitionFeed): void {
    this.#feeds.delete(feed);
  }

  /** Call after messages were taken from a feed. */
  taken(): void {
    this.#schedule();
  }

  close(error: unknown): void {
    this.#isClosed = true;
    for (const timer of this.#timers) clearTimeout(timer);
    for (const [feed, wake] of this.#feeds) {
      feed.fail(error);
      wake();
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isClosed) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      if (!this.#isClosed) this.#startFetches();
    });
  }

  get #partitionBytes(): number {
    const share = bufferBytesMax / Math.max(this.#feeds.size, 1);
    return Math.min(Math.max(Math.floor(share), partitionBytesMin), partitionBytesMax);
  }

  #startFetches(): void {
    const byLeader = new Map<number, PartitionFeed[]>();
    for (const feed of this.#feeds.keys()) {
      if (feed.isBusy || feed.isFetched || feed.bufferedBytes >= this.#partitionBytes) continue;
      const leader = this.#metadata.leader(feed.topic, feed.partition);
      if (leader === null) this.#later(feed, new KafkaFailure(leaderNotAvailable, feed.topic));
      else if (!this.#busyNodes.has(leader)) {
        byLeader.set(leader, [...(byLeader.get(leader) ?? []), feed]);
      }
    }
    for (const [leader, feeds] of byLeader) {
      this.#busyNodes.add(leader);
      void this.#fetch(leader, hindmost(feeds)).finally(() => {
        this.#busyNodes.delete(leader);
        this.#schedule();
      });
    }
  }

  /** `places`: the feeds by partition; those of one partition begin at the same offset. */
  async #fetch(
    leader: number,
    places: ReadonlyMap<string, readonly PartitionFeed[]>,
  ): Promise<void> {
    const feeds = [...places.values()].flat();
    for (const feed of feeds) feed.isBusy = true;
    const limits = {
      maxWaitMs: this.#maxWaitMs,
      maxBytes: responseBytesMax,
      partitionBytes: this.#partitionBytes,
    };
    try {
      const fetched = await this.#connection.send(leader, fetchCall(placesOf(places), limits));
      const byPlace = new Map(fetched.map((one) => [partitionName(one), one]));
      for (const feed of feeds) {
        feed.isBusy = false;
        const one = byPlace.get(partitionName(feed));
        if (one !== undefined) this.#accept(feed, one);
        // A feed with data goes to the back: brokers fill a response in the order of the request.
        if (one !== undefined && one.records.length > 0) this.#toTheBack(feed);
      }
    } catch (error) {
      for (const feed of feeds) this.#later(feed, error);
    }
  }

  #toTheBack(feed: PartitionFeed): void {
    const wake = this.#feeds.get(feed);
    if (wake === undefined) return;
    this.#feeds.delete(feed);
    this.#feeds.set(feed, wake);
  }

  #accept(feed: PartitionFeed, { errorCode, records, aborted }: FetchedPartition): void {
    if (errorCode !== kafkaError.none) {
      this.#later(feed, new KafkaFailure(errorCode, partitionName(feed)));
      return;
    }
    feed.failures = 0;
    if (records.length === 0) return;
    feed.accept(new RecordSet(records, aborted));
    this.#wake(feed);
  }

  #wake(feed: PartitionFeed): void {
    if (feed.isReady) this.#feeds.get(feed)?.();
  }

  #fail(feed: PartitionFeed, error: unknown): void {
    feed.fail(error);
    this.#feeds.get(feed)?.();
  }

  /** Fetches for the feed again a little later, once the cause is known. */
  #later(feed: PartitionFeed, error: unknown): void {
    const isOutOfRange =
      error instanceof KafkaFailure && error.code === kafkaError.offsetOutOfRange;
    if (!isOutOfRange && !isTransient(error)) {
      this.#fail(feed, error instanceof KafkaFailure ? logUnavailable(error) : error);
      return;
    }
    feed.isBusy = true;
    feed.failures++;
    const timer = setTimeout(
      () => {
        this.#timers.delete(timer);
        void this.#recover(feed, isOutOfRange);
      },
      isOutOfRange && feed.failures === 1 ? 0 : pauseMs(feed.failures),
    );
    this.#timers.add(timer);
  }

  async #recover(feed: PartitionFeed, isOutOfRange: boolean): Promise<void> {
    try {
      if (isOutOfRange) {
        feed.skipTo(await this.#offsets.start(feed.topic, feed.partition));
        this.#wake(feed);
      } else await this.#metadata.refresh(feed.topic);
    } catch (error) {
      // A permanent failure; a temporary one is retried.
      if (!this.#isClosed && !isAway(error)) this.#fail(feed, error);
    }
    feed.isBusy = false;
    this.#schedule();
  }
}

const leaderNotAvailable = 5;

const partitionName = ({ topic, partition }: { topic: string; partition: number }): string =>
  `${topic}/${partition}`;

/**
 * A request may name each partition once: of its feeds, those furthest behind. Data exists for them, so that the
 * response is not delayed.
 */
function hindmost(feeds: readonly PartitionFeed[]): Map<string, PartitionFeed[]> {
  const places = new Map<string, PartitionFeed[]>();
  for (const feed of feeds) {
    const name = partitionName(feed);
    const [first] = places.get(name) ?? [];
    if (first === undefined || feed.fetchFrom < first.fetchFrom) places.set(name, [feed]);
    else if (feed.fetchFrom === first.fetchFrom) places.get(name)?.push(feed);
  }
  return places;
}

const placesOf = (places: ReadonlyMap<string, readonly PartitionFeed[]>) =>
  [...places.values()].flatMap(([feed]) =>
    feed === undefined
      ? []
      : [{ topic: feed.topic, partition: feed.partition, offset: feed.fetchFrom }],
  );

const isAway = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'log_unavailable';
