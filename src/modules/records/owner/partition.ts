import { setImmediate as breathe } from 'node:timers/promises';
import { createRecordHash, type RecordHash } from '../hash.ts';
import { recordCommandsTopic } from '../commands.ts';
import { ChangeEncoder } from './decisions/change-encoder.ts';
import { CommandQueue } from './command-queue.ts';
import { decideCommand, decode, type Deciding } from './decisions/decide-command.ts';
import { tickMsDefault, type Shared } from './deps.ts';
import { RetentionSweep, slicePauseMs } from './decisions/retention.ts';
import { Changes, Round } from './decisions/round.ts';
import { createOpening, type Opening } from './encryption/command-payloads.ts';
import { PendingEncryption } from './encryption/pending-encryption.ts';
import { resumableMs } from './state/store-file.ts';
import { saveMarks } from './state/stream-state.ts';
import type { Held } from './acquire-partition.ts';
import { headsOf, transactionOf, type Decided, type Transaction } from './transaction.ts';

/** Bounds of a transaction: changes, and records looked at. */
const roundChangesMax = 5000;
const roundRecordsMax = 20_000;
/** What the state store holds back between two commits; a crash restores so much from the log. */
const uncommittedMax = 25_000;
const uncommittedMs = 1000;
/** How often marks of an open pass are saved while they change. */
const marksSavedEveryMs = 30_000;
const commandsDeletedEveryMs = 3_600_000;
const atEndSavedEveryMs = 3_600_000;

/**
 * Decides the commands of one partition in order. While payloads of one round are sealed and the log writes its
 * transaction, the next round is decided; it is committed only when the log has the one before, and the state store keeps
 * nothing that the log does not have.
 */
export class PartitionOwner implements AsyncDisposable {
  readonly #shared: Shared;
  readonly #held: Held;
  readonly #queue: CommandQueue;
  readonly #changes: Changes;
  readonly #hash: RecordHash;
  readonly #opening: Opening;
  /** The last decided command, and what of the log the acknowledged rounds reach to. */
  #decided: number;
  #acked: Transaction['reaches'];
  #inFlight: Promise<void> | null = null;
  #uncommitted = 0;
  #committedAt: number;
  #deletedAt = 0;
  /** What the store says of when it was at the end. */
  #atEndAt: number;
  readonly #retention: RetentionSweep;

  constructor(shared: Shared, held: Held) {
    const { store, progress } = held;
    const { clock, log } = shared;
    const encoder = new ChangeEncoder(shared.encodedSample);
    this.#shared = shared;
    this.#held = held;
    const { headsEpoch: epoch, lastModifiedAt } = progress;
    this.#opening = createOpening(shared.vault);
    const pending = new PendingEncryption(shared.sealing);
    this.#changes = new Changes({
      store,
      clock,
      encoder,
      pendingEncryption: pending,
      epoch,
      lastModifiedAt,
    });
    this.#hash = createRecordHash((purpose, text) => shared.vault.fingerprint(purpose, text));
    this.#decided = progress.command;
    this.#acked = progress;
    this.#committedAt = clock.now();
    this.#atEndAt = progress.atEndAt;
    this.#retention = new RetentionSweep(shared, held.partition, held.streams);
    this.#queue = new CommandQueue(log, held.partition, progress.command + 1);
  }

  /** Until the signal aborts; then what was decided is handed over. @throws what the log fails with */
  async run(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    while (!signal.aborted) {
      if (this.#queue.peek() === undefined) {
        await this.#settle();
        await this.#waitForWork(aborted);
        await this.#lookAround();
      }
      await this.#round();
      this.#offerSnapshot();
    }
    this.#changes.round = new Round();
    this.#saveMarks(0);
    await this.#commitRound(0);
    await this.#settle();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { snapshots } = this.#shared;
    await Promise.all([this.#queue[Symbol.asyncDispose](), snapshots?.end(this.#held.partition)]);
    await this.#inFlight?.catch(() => undefined);
    this.#held.store[Symbol.dispose]();
    await this.#held.writer[Symbol.asyncDispose]();
  }

  async #waitForWork(aborted: Promise<void>): Promise<void> {
    const { promise: tick, resolve } = Promise.withResolvers<undefined>();
    const tickMs = this.#shared.tickMs ?? tickMsDefault;
    const waitMs = this.#retention.isUnderWay ? Math.min(slicePauseMs, tickMs) : tickMs;
    const timer = setTimeout(resolve, waitMs, undefined).unref();
    await Promise.race([this.#queue.change(), tick, aborted]);
    clearTimeout(timer);
  }

  /** Decides what is queued, up to the bounds, and begins to commit it. */
  async #round(): Promise<void> {
    if (this.#isStoreFull()) await this.#settle();
    const round = new Round();
    this.#changes.round = round;
    let records = 0;
    while (round.changes.length < roundChangesMax && records < roundRecordsMax) {
      const message = this.#queue.peek();
      if (message === undefined) break;
      const decoded = decode(this.#shared, message);
      if (decoded.command?.kind === 'barrier') {
        // Its answer names the end of what was decided before: that must be in the log first.
        if (round.changes.length > 0) break;
        await this.#acknowledged();
      }
      records += 1 + (decoded.command?.ids.length ?? 0);
      const outcome = await decideCommand(this.#deciding(), message, decoded);
      if (outcome === 'more') break;
      this.#decided = message.offset;
      this.#queue.shift();
      // What was sealed meanwhile is taken up, and what the log has said.
      if (this.#changes.isSealing) await breathe();
    }
    this.#saveMarks(marksSavedEveryMs);
    await this.#commitRound(records);
  }

  #deciding(): Deciding {
    const { streams, partition } = this.#held;
    const rules = {
      changes: this.#changes,
      hash: this.#hash,
      opening: this.#opening,
      changesEnd: this.#acked.changes,
    };
    return { shared: this.#shared, partition, rules, streams };
  }

  /** Hands the round to the log, after the one before was acknowledged. */
  async #commitRound(records: number): Promise<void> {
    const { round } = this.#changes;
    const { streams, store } = this.#held;
    if (records === 0 && round.touched.size === 0) return;
    const meta = {
      epoch: this.#changes.epoch,
      command: this.#decided,
      lastModifiedAt: this.#changes.lastModifiedAt,
    };
    const heads = headsOf(this.#shared, round, meta, store);
    const finished = this.#changes.finish();
    finished.catch(() => undefined);
    await this.#acknowledged();
    this.#uncommitted += round.changes.length + round.touched.size;
    this.#inFlight = finished.then(() => this.#commit({ round, heads, meta }));
    // Reported to the next caller that awaits a round; until then there is no listener.
    this.#inFlight.catch(() => undefined);
    streams.trim(round.touched);
  }

  async #commit(decided: Decided): Promise<void> {
    const { partition, writer } = this.#held;
    const { faultPoint } = this.#shared;
    await faultPoint?.('records:before-transaction');
    const transaction = transactionOf(this.#shared, partition, decided);
    await faultPoint?.('records:during-transaction');
    const places = await writer.commit(transaction.batch, transaction.consumed);
    this.#acked = transaction.reach(this.#acked, places);
    await faultPoint?.('records:after-transaction');
  }

  async #acknowledged(): Promise<void> {
    const inFlight = this.#inFlight;
    await inFlight;
    this.#inFlight = null;
  }

  #isStoreFull(): boolean {
    const age = this.#shared.clock.now() - this.#committedAt;
    return this.#uncommitted >= uncommittedMax || (this.#uncommitted > 0 && age >= uncommittedMs);
  }

  /** Waits for the log, then keeps in the state store what it has. */
  async #settle(): Promise<void> {
    await this.#acknowledged();
    const { faultPoint, clock } = this.#shared;
    if (this.#uncommitted > 0 || this.#isQuietForLong()) {
      await faultPoint?.('records:before-state-commit');
      this.#atEndAt = clock.now();
      this.#held.store.commit({ ...this.#acked, atEndAt: this.#atEndAt });
      await faultPoint?.('records:after-state-commit');
    }
    this.#uncommitted = 0;
    this.#committedAt = clock.now();
  }

  /**
   * An owner has the end all along, and its store says so now and then: it would be too old to be used otherwise. Not
   * after a long standstill, when another may own the partition.
   */
  #isQuietForLong(): boolean {
    const age = this.#shared.clock.now() - this.#atEndAt;
    return age >= atEndSavedEveryMs && age < resumableMs;
  }

  #offerSnapshot(): void {
    const { partition, store } = this.#held;
    if (this.#acked.changes > 0) this.#shared.snapshots?.offer(partition, store.file);
  }

  /** Adds marks that are not in the head yet, and were last saved this time ago, to the round. */
  #saveMarks(olderThanMs: number): void {
    const now = this.#shared.clock.now();
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

  /** What time asks for, between commands. */
  async #lookAround(): Promise<void> {
    await this.#deleteDecided();
    const round = new Round();
    this.#changes.round = round;
    await this.#retention.slice(this.#changes);
    if (round.touched.size > 0) await this.#commitRound(round.changes.length);
  }

  async #deleteDecided(): Promise<void> {
    const { clock, log } = this.#shared;
    if (clock.now() - this.#deletedAt < commandsDeletedEveryMs) return;
    this.#deletedAt = clock.now();
    const { partition, streams } = this.#held;
    const passes = streams.withPasses().flatMap((stream) => stream.passes);
    const next = Math.min(this.#acked.command, ...passes.map((pass) => pass.savedOffset)) + 1;
    const offset = await deletableBefore(this.#shared, partition, next);
    if (offset > 0) await log.deleteBefore({ topic: recordCommandsTopic, partition, offset });
  }
}

/** Decided commands are kept for a day: marks of delete passes are recovered from them, and operators may look. */
const keptMs = 86_400_000;

/** Offset before which commands are decided and older than a day; `next` is the first that is still needed. */
async function deletableBefore(
  { log, clock }: Shared,
  partition: number,
  next: number,
): Promise<number> {
  const old = await log.offsetAt(recordCommandsTopic, partition, clock.now() - keptMs);
  return Math.min(old, next);
}
