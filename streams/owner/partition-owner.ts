import { setTimeout as delay } from 'node:timers/promises';
import type { EntityDefinitions, ControlCommand, EntityRef } from '#control-plane/entity.ts';
import {
  answerKind,
  commandsTopic,
  controlTopic,
  epochHeader,
  ownerKey,
  refOfKey,
  type CommandValue,
  type EntityValue,
  type OwnerNote,
} from '#control-plane/message-codec.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Reply } from '#control-plane/replies.ts';
import {
  inSpan,
  inTrace,
  processing,
  ReceivedSpans,
  traceHeader,
  traceOf,
} from '#control-plane/trace.ts';
import { GatewayError } from '#kernel/errors.ts';
import { splitKey } from '#kernel/ids.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import type { ReadMessage, TransactionalWriter, EventLog } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import {
  decideInProcess,
  decideCommand,
  ownersGroup,
  type Answer,
  type CommandRoom,
} from './decide-command.ts';
import { InProcessCommands, type InProcessCommand } from './in-process-commands.ts';
import { isFenced } from './own-partition.ts';
import { dueOf, Round } from './round.ts';
import {
  restoredProgress,
  freshProgress,
  type ControlStateStore,
  type EntityChange,
  type OwnerProgress,
  type StoredEntity,
} from './state-store.ts';
import { placed, type AddressedMessage, type TopicWriters } from './topic-writers.ts';

/**
 * A saved state resumes only if it was at the end of the log this recently: an older one may have missed
 * tombstones.
 */
const resumeWithinMs = 3 * dayMs;
const commandsPerRoundMax = 256;
const dueAtOnceMax = 256;
/** The longest that a timer of Node waits. */
const timerMsMax = 2 ** 31 - 1;
/** Pause before the next tick of an entity that stays due. */
const dueAgainAfterMs = 1_000;
const readBytesMax = 1024 * 1024;

export interface OwnerDeps extends ProcessPorts {
  readonly log: EventLog;
  readonly writers: TopicWriters;
  readonly commands: Codec<CommandValue>;
  readonly entities: Codec<EntityValue>;
  readonly definitions: EntityDefinitions;
  readonly partitions: number;
  readonly faultPoint?: (name: string) => void;
}

/**
 * The only writer of one partition of the control plane, from taking it over until the signal aborts or another
 * owner fences it. Rounds are sequential.
 */
export class PartitionOwner {
  readonly #deps: OwnerDeps;
  readonly #partition: number;
  readonly #store: ControlStateStore;
  readonly #writer: TransactionalWriter;
  readonly #commanded: (next: number) => void;
  readonly #onRestored: () => void;
  readonly #inProcess = new InProcessCommands();
  readonly #notBefore = new Map<string, Instant>();
  #progress: OwnerProgress = freshProgress;
  #turn: Promise<unknown> = Promise.resolve();
  /** Ends the pause before the next check of due times, which lasts until `#nextLook`. */
  #wake = new AbortController();
  #nextLook: Instant = 0;

  /**
   * @param held `commanded` is called with the offset of the next command after each commit, `restored` when the store
   *   has all of the log
   */
  constructor(
    deps: OwnerDeps,
    partition: number,
    held: {
      readonly store: ControlStateStore;
      readonly writer: TransactionalWriter;
      readonly commanded: (next: number) => void;
      readonly restored: () => void;
    },
  ) {
    this.#deps = deps;
    this.#partition = partition;
    this.#store = held.store;
    this.#writer = held.writer;
    this.#commanded = (next) => held.commanded(next);
    this.#onRestored = () => held.restored();
  }

  /**
   * @throws GatewayError `writer_fenced`: another owner has the partition; other errors: take the partition over
   *   again
   */
  async own(signal: AbortSignal): Promise<void> {
    await this.#restore();
    this.#onRestored();
    // Raises the epoch, and proves that this is still the only writer.
    await this.#commit(this.#newRound(), [], null);
    const ending = new AbortController();
    const both = AbortSignal.any([signal, ending.signal]);
    const task = [this.#followCommands(both), this.#decideInProcess(both), this.#watchDue(both)];
    this.#inProcess.open();
    try {
      await Promise.all(task);
    } finally {
      ending.abort();
      this.#inProcess.close();
      this.#wake.abort();
      await Promise.allSettled(task);
    }
  }

  /**
   * Decides a command of this process that is not on the log. Null: the partition is not owned, and nothing was
   * written.
   * @throws GatewayError as `InProcessOwners`
   */
  decide(command: ControlCommand, trace: string): Promise<Reply<object> | null> {
    return this.#inProcess.add(command, trace);
  }

  async #restore(): Promise<void> {
    const { log, clock, logger } = this.#deps;
    const end = await log.endOffset(controlTopic, this.#partition);
    let progress = restoredProgress(this.#store, end, { partition: this.#partition, logger });
    if (clock.now() - progress.atEnd >= resumeWithinMs) {
      this.#store.clear();
      progress = freshProgress;
    }
    const from = { topic: controlTopic, partition: this.#partition, offset: progress.next };
    for await (const batch of log.read(from, { maxBytes: readBytesMax })) {
      const changes: EntityChange[] = [];
      let { note } = progress;
      for (const message of batch.messages) {
        const epoch = Number(message.headers[epochHeader] ?? 0);
        if (epoch < note.epoch) continue;
        if (message.key === ownerKey) note = this.#noteOf(message) ?? note;
        else changes.push(this.#restored(message));
      }
      progress = { next: batch.next, note, atEnd: 0 };
      this.#store.apply(changes, progress);
    }
    this.#progress = { ...progress, next: Math.max(progress.next, end), atEnd: clock.now() };
    const { epoch } = progress.note;
    this.#progress = { ...this.#progress, note: { ...progress.note, epoch: epoch + 1 } };
  }

  #noteOf({ value }: ReadMessage): OwnerNote | null {
    if (value === null) return null;
    return JSON.parse(this.#deps.entities.decode(value).state) as OwnerNote;
  }

  #restored({ key, value }: ReadMessage): EntityChange {
    if (value === null) return { key, scope: '', state: null, due: null };
    const { scope, state, kind } = this.#deps.entities.decode(value);
    const due = dueOf(this.#deps.definitions, kind, JSON.parse(state) as object);
    return { key, scope, state, due };
  }

  async #followCommands(signal: AbortSignal): Promise<void> {
    const offset = this.#progress.note.nextCommand;
    const from = [{ topic: commandsTopic, partition: this.#partition, offset }];
    const following = { signal, maxBytes: readBytesMax };
    for await (const batch of this.#deps.log.follow(from, following)) {
      for (let at = 0; at < batch.messages.length; at += commandsPerRoundMax) {
        const slice = batch.messages.slice(at, at + commandsPerRoundMax);
        const isLast = at + commandsPerRoundMax >= batch.messages.length;
        const next = isLast ? batch.next : (slice.at(-1)?.offset ?? 0) + 1;
        await this.#inTurn(() => this.#decideCommands(slice, next));
        if (signal.aborted) return;
      }
    }
  }

  async #decideCommands(messages: readonly ReadMessage[], nextCommand: number): Promise<void> {
    const { clock } = this.#deps;
    const room = this.#room;
    const round = this.#newRound();
    const at = clock.now();
    const decision = this.#progress.note.decision + 1;
    const spans = new ReceivedSpans();
    const { partition } = room;
    const addressed = messages.flatMap((message) => {
      const { headers, offset } = message;
      const trace = spans.begin(traceOf(headers[traceHeader]), () =>
        processing(commandsTopic, { partition, offset, group: ownersGroup }),
      );
      return inTrace(trace, () => decideCommand(room, round, message, at, decision));
    });
    await spans.during(() => this.#commit(round, addressed, nextCommand));
  }

  get #room(): CommandRoom {
    const { writers, commands: codec, logger } = this.#deps;
    return { partition: this.#partition, writers, codec, logger };
  }

  async #decideInProcess(signal: AbortSignal): Promise<void> {
    for (;;) {
      await this.#inProcess.came(signal);
      if (signal.aborted) return;
      await this.#inTurn(() => this.#decideTogether(this.#inProcess.take(commandsPerRoundMax)));
    }
  }

  /** Decides all waiting commands in one transaction. Each gets its reply when that is durable. */
  async #decideTogether(commands: readonly InProcessCommand[]): Promise<void> {
    const room = this.#room;
    const round = this.#newRound();
    const at = this.#deps.clock.now();
    const spans = new ReceivedSpans();
    const decided = commands.map(({ command, trace }) => {
      const decideTrace = spans.begin(trace, () => ({
        name: `decide ${command.items[0]?.ref.kind ?? ''}`,
        kind: 'internal',
      }));
      return inTrace(decideTrace, () => decideInProcess(room, round, command, at));
    });
    const addressed = decided.flatMap((one) => one?.said ?? []);
    const isChanged = addressed.length > 0 || round.changes().next().done !== true;
    try {
      await spans.during(async () => {
        if (isChanged) await this.#commit(round, addressed, this.nextCommand);
      });
    } catch (error) {
      for (const { answer } of commands) {
        if (isFenced(error)) answer.resolve(null);
        else answer.reject(error instanceof GatewayError ? error : unknownOutcome(error));
      }
      throw error;
    }
    commands.forEach(({ answer }, index) => this.#publish(answer, decided[index]?.answer));
  }

  #publish(target: InProcessCommand['answer'], answer: Answer | undefined): void {
    if (answer === undefined) target.resolve(null);
    else if (answer.outcome === 'refused') target.reject(answer.error);
    else {
      const body = answer.isSingle ? answer.state : null;
      target.resolve({ partition: this.#partition, offset: this.#progress.note.decision, body });
    }
  }

  async #watchDue(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      let count = 0;
      await this.#inTurn(async () => {
        count = await this.#decideDue();
      });
      if (count === dueAtOnceMax) continue;
      this.#wake = new AbortController();
      const now = this.#deps.clock.now();
      const due = this.#store.nextDue() ?? Number.POSITIVE_INFINITY;
      // What is still due had its tick just now.
      this.#nextLook = due <= now ? now + dueAgainAfterMs : due;
      const inMs = Math.min(this.#nextLook - now, timerMsMax);
      const ended = AbortSignal.any([signal, this.#wake.signal]);
      await delay(inMs, undefined, { signal: ended, ref: false }).catch(() => undefined);
    }
  }

  /** Sends a tick to due entities; resolves with their number. One that stays due gets its next tick later. */
  async #decideDue(): Promise<number> {
    const now = this.#deps.clock.now();
    for (const [key, at] of this.#notBefore) if (at <= now) this.#notBefore.delete(key);
    const due = this.#store.due(now, dueAtOnceMax + this.#notBefore.size);
    const dueEntities = due.filter(({ key }) => !this.#notBefore.has(key)).slice(0, dueAtOnceMax);
    if (dueEntities.length === 0) return 0;
    const round = this.#newRound();
    const addressed: AddressedMessage[] = [];
    for (const entity of dueEntities) {
      this.#notBefore.set(entity.key, now + dueAgainAfterMs);
      addressed.push(...this.#tick(round, entity, now));
    }
    const isChanged = addressed.length > 0 || round.changes().next().done !== true;
    if (isChanged) await this.#commit(round, addressed, null);
    return dueEntities.length;
  }

  #tick(round: Round, { key, scope }: StoredEntity, at: Instant): AddressedMessage[] {
    if (splitKey(key)[0] === answerKind) {
      round.putNote(key, scope, null);
      return [];
    }
    const ref: EntityRef = refOfKey(key, scope);
    try {
      const made = round.decide([{ ref, body: { type: 'Tick' } }], { at, actor: 'system' });
      const publish = ({ message, meta }: (typeof made.published)[number]): AddressedMessage =>
        this.#deps.writers.published(message, meta, null);
      // Nobody sent a command: what the entity publishes by itself starts a trace.
      const addressed =
        made.published.length === 0
          ? []
          : inSpan(
              () => ({ name: `tick ${ref.kind}`, kind: 'internal', parent: null }),
              () => made.published.map(publish),
            );
      round.accept(made);
      return addressed;
    } catch (err) {
      this.#deps.logger.error({ err, kind: ref.kind }, 'an entity could not decide its due time');
      return [];
    }
  }

  #newRound(): Round {
    const { definitions, partitions } = this.#deps;
    const numberOf = (index: number): number => index * partitions + this.#partition + 1;
    const { numbers } = this.#progress.note;
    return new Round(this.#store, definitions, { supplied: numbers, numberOf });
  }

  /** Commits the round in one transaction of the log, then to the store. */
  async #commit(
    round: Round,
    addressed: readonly AddressedMessage[],
    nextCommand: number | null,
  ): Promise<void> {
    const { note } = this.#progress;
    const at = this.#deps.clock.now();
    const changes = [...round.changes()];
    const after: OwnerNote = {
      decision: note.decision + 1,
      numbers: round.numbers,
      nextCommand: nextCommand ?? note.nextCommand,
      epoch: note.epoch,
    };
    const entities = changes.map((change) => this.#entityMessage(change, after.epoch, at));
    const noted = { key: ownerKey, scope: '', kind: ownerKey, due: null };
    const last = this.#entityMessage({ ...noted, state: JSON.stringify(after) }, after.epoch, at);
    const batch = placed([...entities, last, ...addressed]);
    const kinds = new Set(changes.map(({ kind }) => kind));
    const reached = (point: string): void => {
      for (const kind of kinds) this.#deps.faultPoint?.(`control:${point}-commit:${kind}`);
    };
    reached('before');
    const positions = await this.#writer.commit(batch);
    reached('after');
    const first = positions.find(({ topic }) => topic === controlTopic)?.offset ?? 0;
    const next = first + entities.length + 1;
    this.#progress = { next, note: after, atEnd: at };
    this.#store.apply(changes, this.#progress);
    const isCommanded = nextCommand !== null;
    for (const { key, due } of changes) {
      if (isCommanded || due === null || due > at) this.#notBefore.delete(key);
    }
    if (changes.some(({ due }) => due !== null && due < this.#nextLook)) this.lookForDue();
    this.#commanded(after.nextCommand);
  }

  /** Checks due times now: the clock was stepped. */
  lookForDue(): void {
    this.#wake.abort();
  }

  #entityMessage(
    change: EntityChange & { readonly kind: string },
    epoch: number,
    at: Instant,
  ): AddressedMessage {
    const { key, scope, state, kind } = change;
    const [, ...path] = splitKey(key);
    const value = state === null ? null : { kind, scope, path, state, decided_at: at };
    return this.#deps.writers.entity(this.#partition, key, value, epoch);
  }

  /** Serializes rounds; none starts after an error. */
  #inTurn(task: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(task);
    this.#turn = turn;
    turn.catch(() => undefined);
    return turn;
  }

  /** The limit for the deletion of decided commands. */
  get nextCommand(): number {
    return this.#progress.note.nextCommand;
  }
}

const unknownOutcome = (cause: unknown): GatewayError =>
  new GatewayError('log_unavailable', { message: 'The log did not acknowledge.' }, { cause });
