import { createStreamHeads, type StreamHeads } from '../../src/modules/records/heads.ts';
import type { RecordReader, RecordSource } from '../../src/modules/records/reader.ts';
import type { TableSet } from './define.ts';
import { createPublication } from './publication.ts';
import { records } from './records.ts';

/** What keeps the tables of one generation up to date. */
export interface Feed extends AsyncDisposable {
  /** Rejects when it cannot go on. */
  readonly stopped: Promise<void>;
}

export interface FeedOptions {
  readonly tables: TableSet;
  readonly heads: StreamHeads;
  readonly advanced: (partition: number, next: number) => void;
  readonly isBuilding: () => boolean;
  readonly pacePercent: () => number;
}

export interface FeedDeps {
  /** Makes the tables where they are missing, and starts to feed them. */
  readonly openFeed: (options: FeedOptions) => Promise<Feed>;
  readonly openSource: (of: {
    readonly tables: TableSet;
    readonly heads: StreamHeads;
    readonly published: RecordReader['published'];
  }) => RecordSource;
  /** Told when the feed of a generation cannot go on. */
  readonly failed: (generation: number, error: unknown) => void;
}

/** One generation on this node: its tables, what feeds them, and who reads them. */
export class FedGeneration implements AsyncDisposable {
  readonly number: number;
  readonly tables: TableSet;
  readonly source: RecordSource;
  isBuilding = false;
  pacePercent = 100;
  readonly #deps: FeedDeps;
  readonly #heads = createStreamHeads();
  readonly #publication = createPublication();
  #feed: Feed | null = null;

  constructor(deps: FeedDeps, number: number) {
    this.#deps = deps;
    this.number = number;
    this.tables = records.tableSet(number);
    const publication = this.#publication;
    this.source = deps.openSource({
      tables: this.tables,
      heads: this.#heads,
      published: (...args) => publication.published(...args),
    });
  }

  get isFed(): boolean {
    return this.#feed !== null;
  }

  /** The next offset whose changes cannot be read yet. */
  next(partition: number): number {
    return this.#publication.next(partition);
  }

  async start(): Promise<void> {
    if (this.#feed !== null) return;
    const feed = await this.#deps.openFeed({
      tables: this.tables,
      heads: this.#heads,
      advanced: (partition, next) => this.#publication.advance(partition, next),
      isBuilding: () => this.isBuilding,
      pacePercent: () => (this.isBuilding ? this.pacePercent : 100),
    });
    this.#feed = feed;
    feed.stopped.catch((error: unknown) => {
      if (this.#feed === feed) this.#deps.failed(this.number, error);
    });
  }

  async stop(): Promise<void> {
    const feed = this.#feed;
    this.#feed = null;
    await feed?.[Symbol.asyncDispose]();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }
}
