import type { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '../../../kernel/errors.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { LogState, Partition } from './log-state.ts';
import { asLogFailure, isBusy } from './sqlite-failure.ts';

/** One request of a client. `apply` refuses with a GatewayError before it has written anything. */
interface Operation {
  readonly bytes: number;
  readonly apply: () => unknown;
  readonly promise: PromiseWithResolvers<unknown>;
}

type Outcome = { readonly value: unknown } | { readonly refusal: GatewayError };

/** Data of one transaction, so that the write-ahead log stays small; a single request may exceed it. */
const groupBytesMax = 16 * 1024 ** 2;

/**
 * With less space than this the log takes nothing more. What follows it on the same disk, views and stores, can then
 * still store decided commands, and a caller gets the cause at once instead of waiting.
 */
const reserveBytes = 32 * 1024 ** 2;
/** What a transaction writes about, beside the data of its requests. */
const transactionBytes = 48 * 1024;

/**
 * Group commit: whatever has arrived becomes one transaction of the database, and everyone is answered
 * when it is on disk. A request that is refused does not touch the others; when the transaction itself
 * fails, each request is tried alone, so that only those without room fail.
 */
export class Committer {
  private readonly db: DatabaseSync;
  private readonly state: LogState;
  private readonly checkpointer: Checkpointer;
  private readonly freeBytes: () => number;
  private readonly onCommitted: (touched: readonly Partition[]) => void;
  private queue: Operation[] = [];
  private scheduled = false;

  /** @param freeBytes what the disk of the log has left */
  constructor(
    db: DatabaseSync,
    state: LogState,
    checkpointer: Checkpointer,
    freeBytes: () => number,
    onCommitted: (touched: readonly Partition[]) => void,
  ) {
    this.db = db;
    this.state = state;
    this.checkpointer = checkpointer;
    this.freeBytes = freeBytes;
    this.onCommitted = onCommitted;
  }

  /** Resolves when what `apply` wrote is durable. */
  submit<T>(apply: () => T, bytes = 0): Promise<T> {
    const promise = Promise.withResolvers<unknown>();
    this.queue.push({ bytes, apply, promise });
    this.schedule();
    return promise.promise as Promise<T>;
  }

  /** A transaction of its own, now: for slices of maintenance. */
  runNow<T>(apply: () => T): T {
    try {
      const value = this.transaction(apply);
      this.onCommitted(this.state.takeTouched());
      return value;
    } catch (error) {
      throw asLogFailure(error);
    }
  }

  /** Commits what is still queued. */
  flush(): void {
    while (this.queue.length > 0) this.commitGroup(this.takeGroup());
  }

  private schedule(): void {
    if (this.scheduled) return;
    this.scheduled = true;
    // After the pending messages of all ports have been taken in: they form one group.
    setImmediate(() => {
      this.scheduled = false;
      this.commitGroup(this.takeGroup());
      if (this.queue.length > 0) this.schedule();
      // Once the answers are out: their askers prepare what comes next meanwhile.
      setImmediate(() => {
        if (this.db.isOpen) this.checkpointer.startWhenDue(this.queue.length === 0);
      });
    });
  }

  private takeGroup(): Operation[] {
    let bytes = 0;
    let count = 0;
    for (const operation of this.queue) {
      bytes += operation.bytes;
      if (count > 0 && bytes > groupBytesMax) break;
      count++;
    }
    return this.queue.splice(0, count);
  }

  private commitGroup(group: readonly Operation[]): void {
    if (group.length === 0) return;
    if (this.freeBytes() < reserveBytes) {
      const message = `The disk of the event log has less than ${reserveBytes / 1024 ** 2} MB left.`;
      const refusal = new GatewayError('log_full', { message });
      for (const { promise } of group) promise.reject(refusal);
      return;
    }
    let outcomes: Outcome[];
    try {
      outcomes = this.transaction(() => group.map((operation) => outcomeOf(operation)));
    } catch (error) {
      if (group.length > 1 && !isBusy(error)) {
        for (const operation of group) this.commitGroup([operation]);
      } else {
        for (const operation of group) operation.promise.reject(asLogFailure(error));
      }
      return;
    }
    for (const { bytes } of group) this.checkpointer.wrote(bytes);
    outcomes.forEach((outcome, i) => {
      if ('value' in outcome) group[i]?.promise.resolve(outcome.value);
      else group[i]?.promise.reject(outcome.refusal);
    });
    const touched = this.state.takeTouched();
    // Once the answers are out: to wake the threads of all followers takes longer than to answer.
    setImmediate(() => this.onCommitted(touched));
  }

  private transaction<T>(apply: () => T): T {
    this.db.exec('BEGIN IMMEDIATE');
    try {
      const value = apply();
      this.state.saveTouched();
      this.db.exec('COMMIT');
      this.state.committed();
      this.checkpointer.wrote(transactionBytes);
      return value;
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.db.isTransaction) this.db.exec('ROLLBACK');
      this.state.load();
      throw error;
    }
  }
}

function outcomeOf(operation: Operation): Outcome {
  try {
    return { value: operation.apply() };
  } catch (error) {
    if (error instanceof GatewayError) return { refusal: error };
    throw error;
  }
}
