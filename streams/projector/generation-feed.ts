import { GatewayError } from '#kernel/errors.ts';
import type { TableSet } from './define.ts';
import type { Publication } from './publication.ts';

/** Keeps the tables of one generation up to date in this process. */
export interface TableFeed extends AsyncDisposable {
  /** Whether this process currently projects the partition: no other writes its rows. */
  holds(partition: number): boolean;
  /**
   * Whether only this process inserts rows of the partition and knows all earlier ones: then its cached knowledge
   * of the tables is correct. Default: never.
   */
  readonly isCurrent?: (partition: number) => boolean;
  /**
   * Resolves when readers may rely on what is known of the partition here.
   * @throws GatewayError `projection_unavailable`
   */
  readable(partition: number): Promise<void>;
  /** Rejects when it cannot continue. */
  readonly stopped: Promise<void>;
}

export interface FeedOptions<T extends TableSet = TableSet> {
  readonly tables: T;
  /** Called when the start is about to empty the tables: they are not read before the feed has started. */
  readonly emptying: () => void;
  readonly advanced: (partition: number, next: number) => void;
  /** As `Publication.isAwaited`. */
  readonly isAwaited: Publication['isAwaited'];
  /** Whether the generation is being built, at lower priority. */
  readonly isBuilding: () => boolean;
  readonly pacePercent: () => number;
}

/** How far the tables of one generation can be read, whichever process projects them. */
export interface Reach extends AsyncDisposable {
  readonly advance: (partition: number, next: number) => void;
  readonly published: Publication['published'];
  /** The next offset that is not readable yet, as far as is known here. */
  readonly next: (partition: number) => number;
  readonly isAwaited: Publication['isAwaited'];
  /** Updates `next`. */
  readonly refresh: () => Promise<void>;
}

/** What the reader of a generation receives. */
export interface SourceContext<T extends TableSet> {
  readonly tables: T;
  readonly published: Reach['published'];
  /** By partition, the first offset that is not readable yet. @throws GatewayError `projection_unavailable` */
  readonly reached: () => Promise<number[]>;
  /** As `Feed.isCurrent`. */
  readonly isCurrent: (partition: number) => boolean;
  /** @throws GatewayError `projection_unavailable` */
  readonly beforeReading: (partition: number) => Promise<void>;
}

/** `S`: the reader of a generation. */
export interface FeedDeps<S, T extends TableSet = TableSet> {
  readonly tableSet: (generation: number) => T;
  /** Partitions of the topic. */
  readonly partitions: number;
  readonly openReach: (tables: T) => Reach;
  /** Creates missing tables, and starts to feed them. */
  readonly openFeed: (options: FeedOptions<T>) => Promise<TableFeed>;
  readonly openSource: (sourceContext: SourceContext<T>) => S;
  /** Called when the feed of a generation cannot continue. */
  readonly failed: (generation: number, error: unknown) => void;
}

/** One generation on this node: its tables, feed and reader. */
export class GenerationFeed<S, T extends TableSet = TableSet> implements AsyncDisposable {
  readonly number: number;
  readonly tables: T;
  readonly source: S;
  readonly reach: Reach;
  isBuilding = false;
  pacePercent = 100;
  readonly #deps: FeedDeps<S, T>;
  #feed: TableFeed | null = null;
  /** Whether a start without a feed yet has begun to empty the tables. */
  #isEmptied = false;

  constructor(deps: FeedDeps<S, T>, number: number) {
    this.#deps = deps;
    this.number = number;
    this.tables = deps.tableSet(number);
    this.reach = deps.openReach(this.tables);
    this.source = deps.openSource({
      tables: this.tables,
      published: this.reach.published,
      reached: async () => {
        await this.reach.refresh();
        return Array.from({ length: deps.partitions }, (_, number) => this.reach.next(number));
      },
      isCurrent: (partition) => this.#feed?.isCurrent?.(partition) ?? false,
      beforeReading: (partition) => this.#readable(partition),
    });
  }

  async #readable(partition: number): Promise<void> {
    if (this.#feed !== null) return this.#feed.readable(partition);
    if (this.#isEmptied) throw new GatewayError('projection_unavailable', { retryAfterS: 1 });
  }

  get isFed(): boolean {
    return this.#feed !== null;
  }

  holds(partition: number): boolean {
    return this.#feed?.holds(partition) ?? false;
  }

  async start(): Promise<void> {
    if (this.#feed !== null) return;
    const feed = await this.#deps.openFeed({
      tables: this.tables,
      emptying: () => void (this.#isEmptied = true),
      advanced: this.reach.advance,
      isAwaited: this.reach.isAwaited,
      isBuilding: () => this.isBuilding,
      pacePercent: () => (this.isBuilding ? this.pacePercent : 100),
    });
    this.#feed = feed;
    this.#isEmptied = false;
    feed.stopped.catch((error: unknown) => {
      if (this.#feed === feed) this.#deps.failed(this.number, error);
    });
  }

  /** The tables remain and stay readable. */
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
