import type { DatabaseSync } from 'node:sqlite';
import { GatewayError } from '#kernel/errors.ts';
import type { Checkpointer } from './checkpointer.ts';
import type { LogState, Partition } from './log-state.ts';
import { asLogFailure, isBusy } from './sqlite-failure.ts';

/** One request of a client. `apply` throws a refusal as a GatewayError before it has written anything. */
interface Operation {
  readonly bytes: number;
  readonly apply: () => unknown;
  readonly promise: PromiseWithResolvers<unknown>;
}

type Outcome = { readonly value: unknown } | { readonly refusal: GatewayError };

/** Bytes of one transaction, to keep the write-ahead log small; a single request may exceed it. */
const groupBytesMax = 16 * 1024 ** 2;

/**
 * With less free space the log refuses writes. Views and stores on the same disk can then still store decided
 * commands, and callers get the cause at once instead of a timeout.
 */
const reserveBytes = 32 * 1024 ** 2;
/** Approximate bytes of a transaction besides the data of its requests. */
const transactionBytes = 48 * 1024;

/**
 * Group commit: all pending requests become one transaction of the database, and get their replies when it is on
 * disk. A refused request does not affect the others. When the transaction itself fails, each request is retried
 * alone, so that only those without space fail.
 */
export class Committer {
  readonly #db: DatabaseSync;
  readonly #state: LogState;
  readonly #checkpointer: Checkpointer;
  readonly #freeBytes: () => number;
  readonly #onCommitted: (touched: readonly Partition[]) => void;
  #queue: Operation[] = [];
  #scheduled = false;

  /** @param freeBytes returns the free space of the log's disk */
  constructor(
    db: DatabaseSync,
    state: LogState,
    checkpointer: Checkpointer,
    freeBytes: () => number,
    onCommitted: (touched: readonly Partition[]) => void,
  ) {
    this.#db = db;
    this.#state = state;
    this.#checkpointer = checkpointer;
    this.#freeBytes = freeBytes;
    this.#onCommitted = onCommitted;
  }

  /** Resolves when the writes of `apply` are durable. */
  submit<T>(apply: () => T, bytes = 0): Promise<T> {
    const promise = Promise.withResolvers<unknown>();
    this.#queue.push({ bytes, apply, promise });
    this.#schedule();
    return promise.promise as Promise<T>;
  }

  /** Runs a transaction of its own at once: for slices of maintenance. */
  runNow<T>(apply: () => T): T {
    try {
      const value = this.#transaction(apply);
      this.#onCommitted(this.#state.takeTouched());
      return value;
    } catch (error) {
      throw asLogFailure(error);
    }
  }

  /** Commits all queued requests. */
  flush(): void {
    while (this.#queue.length > 0) this.#commitGroup(this.#takeGroup());
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the pending messages of all ports were received: they form one group.
    setImmediate(() => {
      this.#scheduled = false;
      this.#commitGroup(this.#takeGroup());
      if (this.#queue.length > 0) this.#schedule();
      // After the replies: clients prepare their next requests meanwhile.
      setImmediate(() => {
        if (this.#db.isOpen) this.#checkpointer.startWhenDue(this.#queue.length === 0);
      });
    });
  }

  #takeGroup(): Operation[] {
    let bytes = 0;
    let count = 0;
    for (const operation of this.#queue) {
      bytes += operation.bytes;
      if (count > 0 && bytes > groupBytesMax) break;
      count++;
    }
    return this.#queue.splice(0, count);
  }

  #commitGroup(group: readonly Operation[]): void {
    if (group.length === 0) return;
    if (this.#freeBytes() < reserveBytes) {
      const message = `The disk of the event log has less than ${reserveBytes / 1024 ** 2} MB left.`;
      const refusal = new GatewayError('log_full', { message });
      for (const { promise } of group) promise.reject(refusal);
      return;
    }
    let outcomes: Outcome[];
    try {
      outcomes = this.#transaction(() => group.map((operation) => outcomeOf(operation)));
    } catch (error) {
      if (group.length > 1 && !isBusy(error)) {
        for (const operation of group) this.#commitGroup([operation]);
      } else {
        for (const operation of group) operation.promise.reject(asLogFailure(error));
      }
      return;
    }
    for (const { bytes } of group) this.#checkpointer.wrote(bytes);
    outcomes.forEach((outcome, i) => {
      if ('value' in outcome) group[i]?.promise.resolve(outcome.value);
      else group[i]?.promise.reject(outcome.refusal);
    });
    const touched = this.#state.takeTouched();
    // After the replies: waking the threads of all followers takes longer than replying.
    setImmediate(() => this.#onCommitted(touched));
  }

  #transaction<T>(apply: () => T): T {
    this.#db.exec('BEGIN IMMEDIATE');
    try {
      const value = apply();
      this.#state.saveTouched();
      this.#db.exec('COMMIT');
      this.#state.committed();
      this.#checkpointer.wrote(transactionBytes);
      return value;
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK');
      this.#state.load();
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
