import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionNumbers } from '#kernel/partition.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import type { Batch, EventLog, ReadMessage } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import { consume } from './consume.ts';
import type { ControlView, FoundEntity } from './control-plane.ts';
import type { EntityDefinitions, EntityRef, EntityTypes } from './entity.ts';
import {
  controlTopic,
  epochHeader,
  ownerKey,
  refOfKey,
  type EntityValue,
  type OwnerNote,
} from './message-codec.ts';
import type { Ports } from './ports.ts';
import { keysBelow, ViewStore, type PartitionProgress } from './view-store.ts';
import { ViewTables, type Row } from './view-tables.ts';

/** A saved view resumes only if it was at the end of the log this recently: an older one may have missed tombstones. */
const resumeWithinMs = 3 * dayMs;
const atEndNotedEveryMs = 10 * 60_000;
/** Small batches, because applying one blocks the thread. */
const batchBytesMax = 256 * 1024;
const cachedMax = 20_000;

export interface OpenControlView extends ControlView, AsyncDisposable {
  /** Resolves when the decision of the partition's owner is applied. @throws GatewayError `log_unavailable` */
  applied(partition: number, decision: number, timeoutMs: number): Promise<void>;
}

/**
 * Opens the view of this thread and resolves when it has caught up. Each thread needs a file of its own; `:memory:`
 * keeps it in memory.
 */
export async function openControlView(
  deps: Ports & {
    readonly file: string;
    /** The kinds that the view holds, with their indexes. */
    readonly definitions: EntityDefinitions;
  },
): Promise<OpenControlView> {
  const { log, schemas, clock, logger, file, definitions } = deps;
  const codec = await schemas.codec<EntityValue>(controlTopic);
  const partitions = await log.partitions(controlTopic);
  const store = new ViewStore(file, definitions, (reason) =>
    logger.warn({ file, reason }, 'a view of the control plane is made of the log again'),
  );
  const progress = await resume(deps, store, partitions);
  const state = new MaterializedView(store, codec, progress);
  const ending = new AbortController();
  const from = [...progress.values()].map(({ partition, next }) => {
    return { topic: controlTopic, partition, offset: next };
  });
  const running = consume(log, from, (batch) => state.apply(batch), {
    signal: ending.signal,
    maxBytes: batchBytesMax,
    failed: (err) => logger.error({ err }, 'consuming the control plane failed'),
  });

  const reached = (): void => store.putAtEnd(clock.now());
  const caughtUp = createCatchUp({ log, partitions, waiters: state.waiters });
  const close = async (): Promise<void> => {
    clearInterval(noting);
    ending.abort();
    await running;
    store.close();
  };
  const noting = setInterval(
    () => void caughtUp().then(reached, () => undefined),
    atEndNotedEveryMs,
  );
  noting.unref();
  try {
    await caughtUp();
    reached();
  } catch (error) {
    await close();
    throw error;
  }
  return state.asView(caughtUp, close);
}

/** Where to resume: at the saved position, or at the beginning with an empty store. */
async function resume(
  { log, clock }: { readonly log: EventLog; readonly clock: Clock },
  store: ViewStore,
  partitions: number,
): Promise<Map<number, PartitionProgress>> {
  const saved = new Map(
    store.progress().map((partitionProgress) => [partitionProgress.partition, partitionProgress]),
  );
  let isUsable = clock.now() - store.atEnd() < resumeWithinMs;
  for (const { partition, next } of saved.values()) {
    // Beyond the end: this is another log.
    if (partition >= partitions || next > (await log.endOffset(controlTopic, partition))) {
      isUsable = false;
    }
  }
  if (!isUsable) {
    store.clear();
    saved.clear();
  }
  const all = Array.from({ length: partitions }, (_, partition): [number, PartitionProgress] => {
    return [partition, saved.get(partition) ?? { partition, next: 0, decision: 0, epoch: 0 }];
  });
  return new Map(all);
}

interface ChangeListener {
  readonly kinds: ReadonlySet<string>;
  readonly notify: (changed: readonly EntityRef[]) => void;
}

class MaterializedView {
  readonly waiters: PositionWaiters;
  readonly #store: ViewStore;
  readonly #tables: ViewTables;
  readonly #codec: Codec<EntityValue>;
  readonly #progress: Map<number, PartitionProgress>;
  readonly #cached = new LRUCache<string, object>({ max: cachedMax });
  readonly #listeners = new Set<ChangeListener>();

  constructor(
    store: ViewStore,
    codec: Codec<EntityValue>,
    progress: Map<number, PartitionProgress>,
  ) {
    this.#store = store;
    this.#tables = new ViewTables(store.database);
    this.#codec = codec;
    this.#progress = progress;
    this.waiters = new PositionWaiters(progress);
  }

  apply(batch: Batch): void {
    const { partition } = batch;
    const before = this.#progress.get(partition);
    let { decision, epoch } = before ?? { decision: 0, epoch: 0 };
    const changed: EntityRef[] = [];
    const keys: string[] = [];
    this.#store.transaction(() => {
      for (const message of batch.messages) {
        const messageEpoch = Number(message.headers[epochHeader] ?? 0);
        if (messageEpoch < epoch) continue;
        epoch = messageEpoch;
        keys.push(message.key);
        if (message.key === ownerKey) decision = this.#decisionOf(message) ?? decision;
        else if (!message.key.startsWith('~')) this.#change(message, changed);
      }
      this.#store.putProgress({ partition, next: batch.next, decision, epoch });
    });
    for (const key of keys) this.#cached.delete(key);
    this.#progress.set(partition, { partition, next: batch.next, decision, epoch });
    if (changed.length > 0) this.#notify(changed);
    this.waiters.progressed(partition);
  }

  asView(caughtUp: () => Promise<void>, close: () => Promise<void>): OpenControlView {
    return {
      find: ({ kind, path }) => this.#find(joinKey(kind, ...path)),
      has: ({ kind }) => this.#has(kind),
      list: ({ kind }, prefix) => this.#list(kind, prefix),
      findBy: ({ kind }, index, value) => this.#listBy<never>(kind, index, value, 1)[0] ?? null,
      listBy: ({ kind }, index, value) => this.#listBy(kind, index, value, -1),
      search: ({ kind }, query) => this.#store.search(kind, query).map((row) => found(row)),
      count: (sql, values) => this.#count(sql, values),
      caughtUp,
      applied: (partition, decision, timeoutMs) =>
        this.waiters.until(
          partition,
          (partitionProgress) => partitionProgress.decision >= decision,
          timeoutMs,
        ),
      onChange: (kinds, notify) => {
        const ofKinds = new Set(kinds.map(({ kind }) => kind));
        // It gets only references of these kinds.
        const listener = { kinds: ofKinds, notify: notify as ChangeListener['notify'] };
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
      [Symbol.asyncDispose]: close,
    };
  }

  #notify(changed: readonly EntityRef[]): void {
    for (const { kinds, notify } of this.#listeners) {
      const ofKinds = changed.filter(({ kind }) => kinds.has(kind));
      if (ofKinds.length > 0) notify(ofKinds);
    }
  }

  #decisionOf({ value }: ReadMessage): number | null {
    if (value === null) return null;
    return (JSON.parse(this.#codec.decode(value).state) as OwnerNote).decision;
  }

  #change({ key, value }: ReadMessage, changed: EntityRef[]): void {
    if (value === null) {
      const scope = this.#store.remove(key);
      if (scope !== null) changed.push(refOfKey(key, scope));
      return;
    }
    const { scope, state } = this.#codec.decode(value);
    const ref = refOfKey(key, scope);
    this.#store.put(key, ref, state);
    changed.push(ref);
  }

  #find(key: string): object | null {
    const existing = this.#cached.get(key);
    if (existing !== undefined) return existing;
    const row = this.#tables.one('SELECT state FROM entities WHERE key = ?', key);
    return row === null ? null : this.#remember(key, String(row['state']));
  }

  #remember(key: string, text: string): object {
    const state = JSON.parse(text) as object;
    this.#cached.set(key, state);
    return state;
  }

  #has(kind: string): boolean {
    const sql = 'SELECT 1 FROM entities WHERE key >= ? AND key < ? LIMIT 1';
    return this.#tables.all(sql, ...keysBelow(kind, [])).length > 0;
  }

  #list<E extends EntityTypes>(kind: string, prefix: readonly string[]): FoundEntity<E>[] {
    const sql = 'SELECT key, scope, state FROM entities WHERE key >= ? AND key < ? ORDER BY key';
    const rows = this.#tables.all(sql, ...keysBelow(kind, prefix));
    return rows.map((row) => found(row));
  }

  #listBy<E extends EntityTypes>(
    kind: string,
    index: string,
    value: string,
    limit: number,
  ): FoundEntity<E>[] {
    const sql = `SELECT e.key, e.scope FROM entity_index AS i JOIN entities AS e ON e.key = i.key
      WHERE i.kind = ? AND i.name = ? AND i.value = ? ORDER BY i.key LIMIT ?`;
    const rows = this.#tables.all(sql, kind, index, value, limit);
    return rows.flatMap((row) => {
      const state = this.#find(String(row['key']));
      return state === null ? [] : [{ ref: refOf<E>(row), state }];
    });
  }

  #count(sql: string, values: readonly (string | number)[]): number {
    return Number(this.#tables.one(sql, ...values)?.['total'] ?? 0);
  }
}

/** Rows of a kind are read by its name, so that they have its types. */
const refOf = <E extends EntityTypes>(row: Row): EntityRef<E> =>
  refOfKey(String(row['key']), String(row['scope'])) as EntityRef<E>;

const found = <E extends EntityTypes>(row: Row): FoundEntity<E> => ({
  ref: refOf(row),
  state: JSON.parse(String(row['state'])) as E['state'],
});

const catchUpTimeoutMs = 10_000;
/** One check serves all callers within this time. */
const checkEveryMs = 50;

type Condition = (partitionProgress: PartitionProgress) => boolean;

/** Callers that wait for a view to apply a position of a partition. */
export class PositionWaiters {
  readonly #progress: ReadonlyMap<number, PartitionProgress>;
  readonly #waiters = new Set<{
    readonly partition: number;
    readonly condition: Condition;
    readonly resolve: () => void;
  }>();

  constructor(progress: ReadonlyMap<number, PartitionProgress>) {
    this.#progress = progress;
  }

  progressed(partition: number): void {
    for (const waiter of this.#waiters) {
      if (waiter.partition === partition && this.#holds(partition, waiter.condition)) {
        waiter.resolve();
      }
    }
  }

  /** @throws GatewayError `log_unavailable` after the time */
  async until(partition: number, condition: Condition, timeoutMs: number): Promise<void> {
    if (this.#holds(partition, condition)) return;
    const { promise, resolve, reject } = Promise.withResolvers<undefined>();
    const waiter = { partition, condition, resolve: () => resolve(undefined) };
    const tooLate = (): void => {
      const message = 'This node has not applied the decision in time.';
      reject(new GatewayError('log_unavailable', { message }));
    };
    const timer = setTimeout(tooLate, timeoutMs);
    this.#waiters.add(waiter);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  #holds(partition: number, condition: Condition): boolean {
    const progress = this.#progress.get(partition);
    return progress !== undefined && condition(progress);
  }
}

/**
 * A function that resolves when the view has applied everything that was in the log at its call. Calls share a
 * check of the end offsets that has not begun yet; checks begin at least 50 ms apart.
 */
export function createCatchUp(deps: {
  readonly log: EventLog;
  readonly partitions: number;
  readonly waiters: PositionWaiters;
}): () => Promise<void> {
  const { log, partitions, waiters } = deps;
  let next: Promise<void> | null = null;
  let lastBegun = Number.NEGATIVE_INFINITY;

  const check = async (): Promise<void> => {
    const pause = lastBegun + checkEveryMs - performance.now();
    await (pause > 0 ? delay(pause) : Promise.resolve());
    // From here on the ends are being read: a later caller needs another check.
    next = null;
    lastBegun = performance.now();
    await Promise.all(
      partitionNumbers(partitions).map(async (partition) => {
        const end = await log.endOffset(controlTopic, partition);
        if (end <= (await log.startOffset(controlTopic, partition))) return;
        await waiters.until(
          partition,
          (partitionProgress) => partitionProgress.next >= end,
          catchUpTimeoutMs,
        );
      }),
    );
  };

  return () => {
    next ??= check();
    return next;
  };
}
