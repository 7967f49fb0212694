import { createStreamHeads, type StreamHeads } from '../../src/modules/records/heads.ts';
import type { RecordReader, RecordSource } from '../../src/modules/records/reader.ts';
import type { SourceDeps } from '../../src/modules/records/source.ts';
import type { TableSet } from './define.ts';
import { records } from './records.ts';

/** What this process does to keep the tables of one generation up to date. */
export interface Feed extends AsyncDisposable {
  /** Whether this process projects the partition at this moment: nobody else writes its rows. */
  holds(partition: number): boolean;
  /**
   * Resolves when what is known of the partition here may be told.
   * @throws GatewayError `projection_unavailable`
   */
  readable(partition: number): Promise<void>;
  /** Rejects when it cannot go on. */
  readonly stopped: Promise<void>;
}

export interface FeedOptions {
  readonly tables: TableSet;
  readonly heads: StreamHeads;
  readonly advanced: (partition: number, next: number) => void;
  /** Whether it is being built, which gives way to others. */
  readonly isBuilding: () => boolean;
  readonly pacePercent: () => number;
}

/** How far the tables of one generation can be read, whoever projects them. */
export interface Reach extends AsyncDisposable {
  readonly advance: (partition: number, next: number) => void;
  readonly published: RecordReader['published'];
  /** The next offset that cannot be read yet, as far as is known here. */
  readonly next: (partition: number) => number;
  /** Brings `next` up to date. */
  readonly refresh: () => Promise<void>;
}

export interface FeedDeps {
  readonly openReach: (tables: TableSet) => Reach;
  /** Makes the tables where they are missing, and starts to feed them. */
  readonly openFeed: (options: FeedOptions) => Promise<Feed>;
  readonly openSource: (
    of: Required<
      Pick<SourceDeps, 'tables' | 'heads' | 'published' | 'isCurrent' | 'beforeReading'>
    >,
  ) => RecordSource;
  /** Told when the feed of a generation cannot go on. */
  readonly failed: (generation: number, error: unknown) => void;
}

/** One generation on this node: its tables, what feeds them, and who reads them. */
export class FedGeneration implements AsyncDisposable {
  readonly number: number;
  readonly tables: TableSet;
  readonly source: RecordSource;
  readonly reach: Reach;
  isBuilding = false;
  pacePercent = 100;
  readonly #deps: FeedDeps;
  readonly #heads = createStreamHeads();
  #feed: Feed | null = null;

  constructor(deps: FeedDeps, number: number) {
    this.#deps = deps;
    this.number = number;
    this.tables = records.tableSet(number);
    this.reach = deps.openReach(this.tables);
    this.source = deps.openSource({
      tables: this.tables.names,
      heads: this.#heads,
      published: this.reach.published,
      isCurrent: (partition) => this.holds(partition),
      beforeReading: async (partition) => this.#feed?.readable(partition),
    });
  }

  get isFed(): boolean {
    return this.#feed !== null;
  }

  holds(partition: number): boolean {
    return this.#feed?.holds(partition) ?? false;
  }

  /** What was read of it before must be read again. */
  forget(): void {
    this.#heads.drop('all');
  }

  async start(): Promise<void> {
    if (this.#feed !== null) return;
    const feed = await this.#deps.openFeed({
      tables: this.tables,
      heads: this.#heads,
      advanced: this.reach.advance,
      isBuilding: () => this.isBuilding,
      pacePercent: () => (this.isBuilding ? this.pacePercent : 100),
    });
    this.#feed = feed;
    feed.stopped.catch((error: unknown) => {
      if (this.#feed === feed) this.#deps.failed(this.number, error);
    });
  }

  /** Its tables stay as they are; they can be read on. */
  async stop(): Promise<void> {
    const feed = this.#feed;
    this.#feed = null;
    await feed?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    await this.reach[Symbol.asyncDispose]();
  }
}
