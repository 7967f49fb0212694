import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '#kernel/errors.ts';
import type { Cleanup, ReadMessage } from '#ports/event-log.ts';
import type { Committer } from './committer.ts';
import type { LogState, Partition } from './log-state.ts';
import { DirectoryView } from './row-format.ts';
import { searchByPeak } from './search-by-time.ts';

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

type Compaction = Extract<Cleanup, { policy: 'compact' }>;

interface Row {
  readonly id: number;
  readonly base: number;
  readonly next: number;
  readonly codec: number;
  readonly newest: number;
  readonly peak: number;
  readonly horizon: number | null;
  readonly directory: Uint8Array;
}

/** A partition is compacted when this share of its compactable part is new, or when `maxLagMs` requires it. */
const dirtyShareMin = 0.5;
/** Keys processed between two checks of the clock. */
const keysPerCheck = 100;

/**
 * Compacts one partition at a time, as Kafka does: messages younger than `minLagMs` are neither removed nor do they
 * supersede. Rows keep their position; an empty row is deleted. A tombstone stays for `tombstoneMs` after the pass
 * that removed the deleted messages, so that a lagging reader sees it.
 */
class Compactor {
  readonly #directory: string;
  readonly #state: LogState;
  readonly #committer: Committer;
  readonly #rowAfter: StatementSync;
  readonly #dueRow: StatementSync;
  #stopped = false;

  constructor(db: DatabaseSync, directory: string, state: LogState, committer: Committer) {
    this.#directory = directory;
    this.#state = state;
    this.#committer = committer;
    const columns = 'id, base, next, codec, newest, peak, horizon, directory';
    this.#rowAfter = db.prepare(
      `SELECT ${columns} FROM batches WHERE partition = ? AND next > ? ORDER BY next LIMIT 1`,
    );
    this.#dueRow = db.prepare(
      `SELECT ${columns} FROM batches WHERE partition = ? AND horizon <= ? ORDER BY horizon LIMIT 1`,
    );
  }

  stop(): void {
    this.#stopped = true;
  }

  async compact(
    topic: string,
    number: number,
    policy: Compaction,
    now: number,
    budget: TimeBudget,
  ): Promise<void> {
    const { id } = this.#state.partition(topic, number);
    await this.#dropTombstones(id, now, budget);
    const partition = this.#state.partition(topic, number);
    const end = this.#cleanableEnd(partition, now - policy.minLagMs);
    if (!this.#isDue(partition, end, now - policy.maxLagMs)) return;
    using keyOffsets = new KeyOffsets(this.#directory);
    await this.#collect(partition, end, keyOffsets, budget);
    const count = await this.#removeSuperseded(
      partition,
      end,
      keyOffsets,
      now + policy.tombstoneMs,
      budget,
    );
    if (this.#stopped) return;
    this.#committer.runNow(() => {
      const present = this.#state.partition(topic, number);
      present.cleaned = end;
      present.cleanedCount = count;
      this.#state.touch(present);
    });
  }

  /** Start of the first row that may hold a message younger than the cutoff, or the end. */
  #cleanableEnd(partition: Partition, cutoff: number): number {
    const from = Math.max(partition.cleaned, partition.start);
    const rowAfter = (position: number): Row | undefined =>
      this.#after(partition.id, position) ?? undefined;
    const young = searchByPeak(rowAfter, from, partition.next, (peak) => peak > cutoff);
    return young?.base ?? partition.next;
  }

  #isDue(partition: Partition, end: number, demanded: number): boolean {
    const from = Math.max(partition.cleaned, partition.start);
    const dirty = end - from;
    if (dirty <= 0) return false;
    if (dirty >= (dirty + partition.cleanedCount) * dirtyShareMin) return true;
    const first = this.#after(partition.id, from);
    return first !== null && first.newest <= demanded;
  }

  /** The newest offset of each key in the part that was not compacted before. */
  async #collect(partition: Partition, end: number, keyOffsets: KeyOffsets, budget: TimeBudget) {
    let position = Math.max(partition.cleaned, partition.start);
    for (;;) {
      const row = this.#after(partition.id, position);
      if (row === null || row.base >= end || this.#stopped) return;
      const view = new DirectoryView(row);
      for (let i = 0; i < view.count; i++) {
        keyOffsets.set(view.key(i), view.offset(i));
        if (i % keysPerCheck === 0) await budget.rest();
      }
      position = row.next;
    }
  }

  /** Returns the number of messages left before `end`. */
  async #removeSuperseded(
    partition: Partition,
    end: number,
    keyOffsets: KeyOffsets,
    horizon: number,
    budget: TimeBudget,
  ): Promise<number> {
    let position = partition.start;
    let left = 0;
    for (;;) {
      const row = this.#after(partition.id, position);
      if (row === null || row.base >= end || this.#stopped) return left;
      const view = new DirectoryView(row);
      const kept = new Set<number>();
      let hasTombstone = false;
      for (let i = 0; i < view.count; i++) {
        if (i % keysPerCheck === 0) await budget.rest();
        const offset = view.offset(i);
        if ((keyOffsets.get(view.key(i)) ?? offset) > offset) continue;
        kept.add(offset);
        hasTombstone ||= view.isTombstone(i);
      }
      left += kept.size;
      const due = hasTombstone ? (row.horizon ?? horizon) : null;
      if (kept.size < view.count || due !== row.horizon) {
        this.#rewrite(partition.id, row, due, kept.size < view.count, (m) => kept.has(m.offset));
      }
      position = row.next;
      await budget.rest();
    }
  }

  async #dropTombstones(partitionId: number, now: number, budget: TimeBudget): Promise<void> {
    for (;;) {
      const row = this.#dueRow.get(partitionId, now) as unknown as Row | undefined;
      if (row === undefined || this.#stopped) return;
      this.#rewrite(partitionId, row, null, true, ({ value }) => value !== null);
      await budget.rest();
    }
  }

  #rewrite(
    partitionId: number,
    row: Row,
    horizon: number | null,
    changed: boolean,
    keep: (message: ReadMessage) => boolean,
  ): void {
    const { rows } = this.#state;
    this.#committer.runNow(() => {
      if (changed) rows.keep(partitionId, row.id, keep, horizon);
      else rows.setHorizon(row.id, horizon);
    });
  }

  #after(partitionId: number, position: number): Row | null {
    return (this.#rowAfter.get(partitionId, position) as unknown as Row | undefined) ?? null;
  }
}

/**
 * The newest offset of each key during the compaction of a partition. Beyond 16 MiB in a scratch file, so that
 * memory does not limit the number of keys.
 */
class KeyOffsets {
  readonly #file: string;
  readonly #db: DatabaseSync;
  readonly #put: StatementSync;
  readonly #find: StatementSync;

  constructor(directory: string) {
    this.#file = join(directory, 'compaction.sqlite');
    rmSync(this.#file, { force: true });
    this.#db = new DatabaseSync(this.#file);
    this.#db.exec(`
      PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
      PRAGMA cache_size = -16384;
      CREATE TABLE keys (key TEXT PRIMARY KEY, newest INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      BEGIN;`);
    this.#put = this.#db.prepare(`INSERT INTO keys VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET newest = excluded.newest`);
    this.#find = this.#db.prepare('SELECT newest FROM keys WHERE key = ?');
    this.#find.setReturnArrays(true);
  }

  set(key: string, offset: number): void {
    this.#put.run(key, offset);
  }

  get(key: string): number | undefined {
    const row = this.#find.get(key) as unknown as [number] | undefined;
    return row?.[0];
  }

  [Symbol.dispose](): void {
    this.#db.close();
    rmSync(this.#file, { force: true });
  }
}

/** Longest delay of appends by maintenance, approximately. */
const sliceMs = 3;

/** Limits maintenance to half of the log thread, in slices. */
class TimeBudget {
  #began = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#began >= sliceMs;
  }

  /** Returns at once within the slice; otherwise pauses for as long as the slice took. */
  async rest(): Promise<void> {
    const tookMs = performance.now() - this.#began;
    if (tookMs < sliceMs) return;
    await sleep(Math.min(Math.ceil(tookMs), 50));
    this.#began = performance.now();
  }
}
