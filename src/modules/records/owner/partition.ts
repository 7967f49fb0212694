import { setImmediate as breathe } from 'node:timers/promises';
import { inSpan, inTrace, processing, traceHeader, traceOf } from '#control-plane/trace.ts';
import { dayMs } from '#kernel/time.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import { recordCommandsTopic } from '../model/commands.ts';
import type { AcquiredPartition } from './acquire-partition.ts';
import { CommandQueue } from './command-queue.ts';
import { ChangeEncoder } from './decisions/change-encoder.ts';
import { decideCommand, decode, type DecisionContext } from './decisions/decide-command.ts';
import { createRecordHash, type RecordHash } from './decisions/decide.ts';
import { RetentionSweep, slicePauseMs } from './decisions/retention.ts';
import {
  Changes,
  Round,
  headsOf,
  transactionOf,
  type DecidedRound,
  type Transaction,
} from './decisions/round.ts';
import { recordOwnersGroup, tickMsDefault, type OwnerServices } from './deps.ts';
import { createOpening, type Opening, PendingEncryption } from './encryption.ts';
import { resumableMs } from './state/store-file.ts';
import { saveMarks } from './state/stream-state.ts';

/** Records of a round from which on the next round waits for more commands. */
const rushRecords = 50;
/** Each round costs a transaction of the log, and an entry that all readers of the changes unpack. */
const gatherMs = 25;

/**
 * Decides how long a round waits for further commands before it is written: not at all while little is written.
 * Times are milliseconds of a monotonic clock.
 */
export class RoundPace {
  #dueAt = -Infinity;

  /** Notes that a round begins to be written. */
  written(at: number, records: number): void {
    if (records >= rushRecords) this.#dueAt = at + gatherMs;
  }

  /** `isAwaited`: somebody waits for a reply of the round. */
  waitMs(at: number, isAwaited: boolean): number {
    return isAwaited ? 0 : Math.max(0, this.#dueAt - at);
  }
}

/** Limits of a transaction: changes, and records read. */
const roundChangesMax = 5000;
const roundRecordsMax = 20_000;
/** Uncommitted changes of the state store, and their age; a crash restores them from the log. */
const uncommittedMax = 25_000;
const uncommittedMs = 1000;
/** How long commands must be absent before the store commits: with each small save it would write half-filled blocks. */
const quietMs = 100;
/** Interval at which changed marks of an open pass are saved. */
const marksSavedEveryMs = 30_000;
const commandsDeletedEveryMs = 3_600_000;
const atEndSavedEveryMs = 3_600_000;

/**
 * Decides the commands of one partition in order. While payloads of one round are sealed and the log writes its
 * transaction, the next round is decided. It is committed only when the log has the previous one, and the state store
 * commits only what the log has.
 */
export class PartitionOwner implements AsyncDisposable {
  readonly #services: OwnerServices;
  readonly #held: AcquiredPartition;
  readonly #queue: CommandQueue;
  readonly #changes: Changes;
  readonly #hash: RecordHash;
  readonly #opening: Opening;
  /** The last decided command, and the log positions of the acknowledged rounds. */
  #decided: number;
  #acked: Transaction['reaches'];
  #inFlight: Promise<void> | null = null;
  #uncommitted = 0;
  /** The time of the oldest of them. */
  #uncommittedSince: number;
  /** The changes of the log that the store has committed. */
  #committed: number;
  #deletedAt = 0;
  /** The last decided command when memory was returned. */
  #shrunkAt = -1;
  /** The time at which the store was last at the end of the log. */
  #atEndAt: number;
  readonly #retention: RetentionSweep;
  readonly #pace = new RoundPace();

  constructor(services: OwnerServices, held: AcquiredPartition) {
    const { store, progress } = held;
    const { clock, log } = services;
    const encoder = new ChangeEncoder(services.encodedSample);
    this.#services = services;
    this.#held = held;
    const { headsEpoch: epoch, lastModifiedAt } = progress;
    this.#opening = createOpening(services.vault);
    const pending = new PendingEncryption(services.sealing);
    this.#changes = new Changes({
      store,
      clock,
      encoder,
      pendingEncryption: pending,
      epoch,
      lastModifiedAt,
    });
    this.#hash = createRecordHash((purpose, text) => services.vault.fingerprint(purpose, text));
    this.#decided = progress.command;
    this.#acked = progress;
    this.#uncommittedSince = clock.now();
    this.#committed = progress.changes;
    this.#atEndAt = progress.atEndAt;
    this.#retention = new RetentionSweep(services, held.partition, held.streams);
    this.#queue = new CommandQueue(log, held.partition, progress.command + 1);
  }

  /**
   * Runs until the signal aborts; then the decided rounds are written.
   * @throws the error of the log
   */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      if (this.#queue.peek() === undefined) await this.#idle(aborted);
      await this.#round(aborted);
      this.#offerSnapshot();
    }
    this.#changes.round = new Round();
    this.#saveMarks(0);
    await this.#commitRound(0);
    await this.#settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { snapshots } = this.#services;
    await Promise.all([this.#queue[Symbol.asyncDispose](), snapshots?.end(this.#held.partition)]);
    await this.#inFlight?.catch(() => undefined);
    this.#held.store[Symbol.dispose]();
    await this.#held.writer[Symbol.asyncDispose]();
  }

  /** Commits the store when no command comes for a while; then until there is work. */
  async #idle(aborted: Promise<void>): Promise<void> {
    await this.#acknowledged();
    if (this.#uncommitted > 0) {
      await this.#waitForWork(aborted, quietMs);
      if (this.#queue.peek() !== undefined) return;
    }
    await this.#settle();
    this.#offerSnapshot();
    await this.#waitForWork(aborted);
    await this.#lookAround();
    this.#returnMemory();
  }

  async #waitForWork(aborted: Promise<void>, mostMs = Infinity): Promise<void> {
    const { promise: tick, resolve } = Promise.withResolvers<undefined>();
    const tickMs = Math.min(this.#services.tickMs ?? tickMsDefault, mostMs);
    const waitMs = this.#retention.isUnderWay ? Math.min(slicePauseMs, tickMs) : tickMs;
    const timer = setTimeout(resolve, waitMs, undefined).unref();
    await Promise.race([this.#queue.change(), tick, aborted]);
    clearTimeout(timer);
  }

  /** Decides queued commands, up to the limits, and begins to commit them. */
  async #round(aborted: Promise<void>): Promise<void> {
    if (this.#isStoreFull()) await this.#settle();
    const round = new Round();
    this.#changes.round = round;
    let records = 0;
    while (round.changes.length < roundChangesMax && records < roundRecordsMax) {
      if (this.#queue.peek() === undefined) await this.#gather(round, aborted);
      const message = this.#queue.peek();
      if (message === undefined) break;
      const decoded = decode(this.#services, message);
      if (decoded.command?.kind === 'barrier') {
        // Its reply names the end of the earlier changes: those must be in the log first.
        if (round.changes.length > 0) break;
        await this.#acknowledged();
      }
      records += 1 + (decoded.command?.ids.length ?? 0);
      const outcome = await this.#decide(message, decoded);
      if (outcome === 'more') break;
      this.#decided = message.offset;
      this.#queue.shift();
      // Applies finished encryption and acknowledgments of the log.
      if (this.#changes.isSealing) await breathe();
    }
    this.#saveMarks(marksSavedEveryMs);
    await this.#commitRound(records);
  }

  /** Waits for the next command while a rush lasts. */
  async #gather(round: Round, aborted: Promise<void>): Promise<void> {
    const waitMs = this.#pace.waitMs(performance.now(), round.replies.length > 0);
    if (waitMs > 0) await this.#waitForWork(aborted, waitMs);
  }

  /** Only commands of recorded traces carry a trace. */
  #decide(message: ReadMessage, decoded: ReturnType<typeof decode>): Promise<'done' | 'more'> {
    const decideNow = () => decideCommand(this.#deciding(), message, decoded);
    const { [traceHeader]: trace } = message.headers;
    if (trace === undefined) return decideNow();
    const { partition } = this.#held;
    const fields = { partition, offset: message.offset, group: recordOwnersGroup };
    return inTrace(traceOf(trace), () =>
      inSpan(() => processing(recordCommandsTopic, fields), decideNow),
    );
  }

  #deciding(): DecisionContext {
    const { streams, partition } = this.#held;
    const rules = {
      changes: this.#changes,
      hash: this.#hash,
      opening: this.#opening,
      changesEnd: this.#acked.changes,
    };
    return { services: this.#services, partition, rules, streams };
  }

  /** Writes the round to the log, after the previous one was acknowledged. */
  async #commitRound(records: number): Promise<void> {
    const { round } = this.#changes;
    const { streams, store } = this.#held;
    if (records === 0 && round.touched.size === 0) return;
    const meta = {
      epoch: this.#changes.epoch,
      command: this.#decided,
      lastModifiedAt: this.#changes.lastModifiedAt,
    };
    const heads = headsOf(this.#services, round, meta, store);
    const finished = this.#changes.finish();
    finished.catch(() => undefined);
    await this.#acknowledged();
    if (this.#uncommitted === 0) this.#uncommittedSince = this.#services.clock.now();
    this.#uncommitted += round.changes.length + round.touched.size;
    this.#pace.written(performance.now(), records);
    this.#inFlight = finished.then(() => this.#commit({ round, heads, meta }));
    // Reported to the next caller that awaits a round; until then there is no listener.
    this.#inFlight.catch(() => undefined);
    streams.trim(round.touched);
  }

  async #commit(decided: DecidedRound): Promise<void> {
    const { partition, writer } = this.#held;
    const { faultPoint } = this.#services;
    await faultPoint?.('records:before-transaction');
    const transaction = transactionOf(this.#services, partition, decided);
    await faultPoint?.('records:during-transaction');
    const places = await writer.commit(transaction.batch, transaction.positions);
    this.#acked = transaction.reach(this.#acked, places);
    await faultPoint?.('records:after-transaction');
  }

  async #acknowledged(): Promise<void> {
    const inFlight = this.#inFlight;
    await inFlight;
    this.#inFlight = null;
  }

  #isStoreFull(): boolean {
    const age = this.#services.clock.now() - this.#uncommittedSince;
    return this.#uncommitted >= uncommittedMax || (this.#uncommitted > 0 && age >= uncommittedMs);
  }

  /** Waits for the log, then commits the acknowledged part in the state store. */
  async #settle(): Promise<void> {
    await this.#acknowledged();
    const { faultPoint, clock } = this.#services;
    if (this.#uncommitted > 0 || this.#isQuietForLong()) {
      await faultPoint?.('records:before-state-commit');
      this.#atEndAt = clock.now();
      this.#held.store.commit({ ...this.#acked, atEndAt: this.#atEndAt });
      this.#committed = this.#acked.changes;
      await faultPoint?.('records:after-state-commit');
    }
    this.#uncommitted = 0;
  }

  /**
   * An owner is always at the end of the log; its store records that from time to time, or it would be too old to be
   * used. Not after a long pause, when another node may own the partition.
   */
  #isQuietForLong(): boolean {
    const age = this.#services.clock.now() - this.#atEndAt;
    return age >= atEndSavedEveryMs && age < resumableMs;
  }

  /** A snapshot has what the store committed. */
  #offerSnapshot(): void {
    const { partition, store } = this.#held;
    if (this.#committed > 0) this.#services.snapshots?.offer(partition, store.file);
  }

  /** Adds marks to the round that are not in the head yet and were last saved this time ago. */
  #saveMarks(olderThanMs: number): void {
    const now = this.#services.clock.now();
    const { round } = this.#changes;
    for (const stream of this.#held.streams.withPasses()) {
      for (const pass of stream.passes) {
        const isDue = pass.isDirty && now - pass.savedAt >= olderThanMs;
        if (isDue) round.touched.add(stream);
        if (isDue || (!pass.isDirty && round.touched.has(stream)))
          saveMarks(pass, this.#decided, now);
      }
    }
  }

  /** Periodic work, between commands. */
  async #lookAround(): Promise<void> {
    await this.#deleteDecided();
    const round = new Round();
    this.#changes.round = round;
    await this.#retention.slice(this.#changes);
    if (round.touched.size > 0) await this.#commitRound(round.changes.length);
  }

  /** Once no command has come for a tick. */
  #returnMemory(): void {
    if (this.#queue.peek() !== undefined || this.#shrunkAt === this.#decided) return;
    this.#shrunkAt = this.#decided;
    this.#held.store.shrink();
  }

  async #deleteDecided(): Promise<void> {
    const { clock, log, logger } = this.#services;
    if (clock.now() - this.#deletedAt < commandsDeletedEveryMs) return;
    this.#deletedAt = clock.now();
    const { partition, streams } = this.#held;
    const passes = streams.withPasses().flatMap((stream) => stream.passes);
    const next = Math.min(this.#acked.command, ...passes.map((pass) => pass.savedOffset)) + 1;
    try {
      const offset = await deletableBefore(this.#services, partition, next);
      if (offset > 0) await log.deleteBefore({ topic: recordCommandsTopic, partition, offset });
    } catch (err) {
      // Commands are decided all the same, also where the brokers do not let their user delete.
      logger.warn({ err, partition }, 'decided commands could not be deleted');
    }
  }
}

/** Decided commands are kept for a day: marks of delete passes are recovered from them, and operators may read them. */
const keptMs = dayMs;

/** Offset before which commands are decided and older than a day; `next` is the first that is still needed. */
async function deletableBefore(
  { log, clock }: OwnerServices,
  partition: number,
  next: number,
): Promise<number> {
  const old = await log.offsetAt(recordCommandsTopic, partition, clock.now() - keptMs);
  return Math.min(old, next);
}
