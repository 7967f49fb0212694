import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { GatewayError } from '#kernel/errors.ts';
import type { Committer } from './committer.ts';
import { Compactor, TimeBudget } from './compactor.ts';
import type { LogState, Partition } from './log-state.ts';

/**
 * Removes expired messages: those before the start of a partition, those past the retention of their topic unless a
 * registered group has yet to read them, and superseded ones of compacted topics. Works in short transactions
 * between those of the clients.
 */
export class Cleaner {
  readonly #state: LogState;
  readonly #committer: Committer;
  readonly #compactor: Compactor;
  readonly #vacuum: Vacuum;
  readonly #head: StatementSync;
  readonly #remove: StatementSync;
  readonly #floor: StatementSync;
  #running: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(db: DatabaseSync, directory: string, state: LogState, committer: Committer) {
    this.#state = state;
    this.#committer = committer;
    this.#compactor = new Compactor(db, directory, state, committer);
    this.#vacuum = new Vacuum(db, committer);
    this.#head = db.prepare(
      'SELECT id, next, newest FROM batches WHERE partition = ? ORDER BY next LIMIT 1',
    );
    this.#remove = db.prepare('DELETE FROM batches WHERE id = ?');
    this.#floor = db.prepare(`SELECT min(coalesce(position, 0)) AS floor FROM group_topics g
      LEFT JOIN group_positions p ON p.name = g.name AND p.topic = g.topic AND p.partition = ?
      WHERE g.topic = ?`);
  }

  /** One pass over all partitions; `now` (ms) is the reference for ages. Passes are sequential. */
  clean(now: number): Promise<void> {
    const pass = this.#running.then(() => this.#pass(now));
    this.#running = pass.catch(() => undefined);
    return pass;
  }

  /** Resolves when the current pass has stopped at its next slice. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#compactor.stop();
    await this.#running;
  }

  async #pass(now: number): Promise<void> {
    const budget = new TimeBudget();
    for (const topic of [...this.#state.topics()]) {
      for (let number = 0; number < topic.partitions.length && !this.#stopped; number++) {
        await budget.rest();
        await this.#trim(topic.name, number, now, budget);
        const { cleanup } = topic;
        if (cleanup.policy !== 'compact') continue;
        await this.#compactor.compact(topic.name, number, cleanup, now, budget);
      }
    }
    await this.#vacuum.vacuum(budget, () => this.#stopped);
  }

  async #trim(topic: string, number: number, now: number, budget: TimeBudget): Promise<void> {
    while (!this.#stopped) {
      const partition = this.#find(topic, number);
      if (partition === null || !this.#isDue(partition, now)) return;
      this.#committer.runNow(() => {
        do this.#dropHead(partition);
        while (!budget.isOver && this.#isDue(partition, now));
      });
      await budget.rest();
    }
  }

  #isDue(partition: Partition, now: number): boolean {
    const head = this.#head.get(partition.id);
    if (head === undefined) return false;
    const next = Number(head['next']);
    if (next <= partition.start) return true;
    const { cleanup } = partition.topic;
    if (cleanup.policy !== 'delete') return false;
    return Number(head['newest']) <= now - cleanup.retentionMs && next <= this.#limit(partition);
  }

  /** The lowest position of the registered groups; a group without one has read nothing. */
  #limit(partition: Partition): number {
    const floor = this.#floor.get(partition.number, partition.topic.id)?.['floor'] ?? null;
    return floor === null ? Infinity : Number(floor);
  }

  #dropHead(partition: Partition): void {
    const head = this.#head.get(partition.id);
    if (head === undefined) return;
    this.#remove.run(head['id'] ?? null);
    partition.start = Math.max(partition.start, Number(head['next']));
    this.#state.touch(partition);
  }

  /** Looked up for each slice: a failed transaction reloads all partitions. */
  #find(topic: string, number: number): Partition | null {
    try {
      return this.#state.partition(topic, number);
    } catch (error) {
      if (error instanceof GatewayError) return null;
      throw error;
    }
  }
}

/** Free pages (of 8 KiB) that stay in the file, for later writes. */
const pagesKept = 1024;
/** Pages returned in one step: each may mean a page moved from the end of the file. */
const pagesPerStep = 16;

/** Returns the space of deleted data to the file system, from the end of the file. */
class Vacuum {
  readonly #committer: Committer;
  readonly #free: StatementSync;
  readonly #db: DatabaseSync;

  constructor(db: DatabaseSync, committer: Committer) {
    this.#db = db;
    this.#committer = committer;
    this.#free = db.prepare('PRAGMA freelist_count');
  }

  async vacuum(budget: TimeBudget, isStopped: () => boolean): Promise<void> {
    while (!isStopped() && this.#freePages() > pagesKept) {
      this.#committer.runNow(() => {
        do this.#db.exec(`PRAGMA incremental_vacuum(${pagesPerStep})`);
        while (!budget.isOver && this.#freePages() > pagesKept);
      });
      await budget.rest();
    }
  }

  #freePages(): number {
    return Number(this.#free.get()?.['freelist_count'] ?? 0);
  }
}
