import type { Logger } from 'pino';
import { consume } from '#control-plane/consume.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import {
  type Retention,
  defaultRetention,
  retentionOf,
  type PublicRetention,
} from '#modules/access/environments/retention.ts';
import type { EventLog, Batch } from '#ports/event-log.ts';
import type { ConfigChanged } from '#streams/values.ts';
import {
  recordCommandsTopic,
  type DueStream,
  type RetentionPreviewAnswer,
  type RetentionPreviewArgs,
} from '../../model/commands.ts';
import { record } from '../../model/decider.ts';
import { recordsTopic, reservedKey } from '../../model/events.ts';
import { runNotedMs } from '../../model/stream.ts';
import { tickMsDefault, type OwnerServices } from '../deps.ts';
import { isKeyGone } from '../encryption.ts';
import type { StateStore } from '../state/state-store.ts';
import type { StreamState } from '../state/stream-state.ts';
import type { Streams } from '../state/streams.ts';
import { noPayload, type Changes } from './round.ts';

/** Interval of sweeps: periods are whole days. */
const sweptEveryMs = dayMs;
/** Records and streams of one slice; a round of commands may come in between. */
const sliceRecords = 2_000;
const sliceStreams = 200;
/** Pause between two slices: it limits removal to about 2,000 records a second, so that readers and the log keep up. */
export const slicePauseMs = 1_000;
/**
 * A clock further ahead of the newest message may be wrong: nothing is removed until the log has reached that time,
 * too.
 */
const clockAheadMs = dayMs;

/** Every partition reads the log: once in 10 s with the default tick. */
const ticksBetweenTrust = 2;

/** Topics that callers write to: messages that owners write by themselves do not confirm the clock. */
const writtenByCallers = [recordCommandsTopic, 'svc.internal.commands.v1'] as const;

/** The expired records of one stream. */
export type DueRetention =
  | { readonly action: 'delete' }
  /** Those that were modified at the time (µs) or before. */
  | { readonly action: 'prune'; readonly until: number };

/** Expired data of a stream at the time: everything, once no run has used it for long enough; or old payloads. */
export function dueOf(
  stream: Pick<StreamState, 'lastRunAt' | 'isClosed'>,
  { pruneAfterDays, deleteAfterDays }: Retention,
  now: Instant,
): DueRetention {
  const before = (days: number): number => (now - days * dayMs) * 1000;
  const { lastRunAt, isClosed } = stream;
  // A later run may not be noted.
  const unused = before(deleteAfterDays) - runNotedMs * 1000;
  if (!isClosed && lastRunAt !== null && lastRunAt <= unused) {
    return { action: 'delete' };
  }
  return { action: 'prune', until: before(pruneAfterDays) };
}

/** Whether any node wrote within the day before `now`. */
export async function isClockTrusted(log: EventLog, now: Instant): Promise<boolean> {
  for (const topic of writtenByCallers) {
    const partitions = await log.partitions(topic);
    for (let partition = 0; partition < partitions; partition++) {
      const [found, end] = await Promise.all([
        log.offsetAt(topic, partition, now - clockAheadMs),
        log.endOffset(topic, partition),
      ]);
      if (found < end) return true;
    }
  }
  return false;
}

/** Prunes and deletes expired data of one partition: once a day, a slice at a time. */
export class RetentionSweep {
  readonly #services: OwnerServices;
  readonly #partition: number;
  readonly #streams: Streams;
  #dueAt: Instant = 0;
  #trustAskedAgainAt = 0;
  #isWaitSaid = false;
  /** The current sweep: its time, and the last stream of its previous slice. */
  #sweep: { readonly now: Instant; after: number } | null = null;

  constructor(services: OwnerServices, partition: number, streams: Streams) {
    this.#services = services;
    this.#partition = partition;
    this.#streams = streams;
  }

  get isUnderWay(): boolean {
    return this.#sweep !== null;
  }

  /** Adds a slice of the expired data to the round of changes; the streams count as touched. */
  async slice(changes: Changes): Promise<void> {
    const { clock, log, tickMs = tickMsDefault } = this.#services;
    const now = clock.now();
    if (this.#sweep === null) {
      if (now < this.#dueAt) return;
      if (performance.now() < this.#trustAskedAgainAt) return;
      if (!(await isClockTrusted(log, now))) {
        this.#sayThatItWaits(changes.store);
        this.#trustAskedAgainAt = performance.now() + ticksBetweenTrust * tickMs;
        return;
      }
      this.#isWaitSaid = false;
      this.#dueAt = now + sweptEveryMs;
      await this.#keepRolling(now);
      this.#sweep = { now, after: 0 };
    }
    await this.#look(changes, this.#sweep);
  }

  /** Once until commands continue, and only with something to prune or delete. */
  #sayThatItWaits(store: StateStore): void {
    if (this.#isWaitSaid || store.headsAfter(0, 1).length === 0) return;
    this.#isWaitSaid = true;
    this.#services.logger.info(
      { partition: this.#partition },
      'retention waits: nothing was written for a day, or the clock is wrong',
    );
  }

  async #look(changes: Changes, sweep: { readonly now: Instant; after: number }): Promise<void> {
    const { retentionOf, vault } = this.#services;
    const { store, round } = changes;
    const heads = store.headsAfter(sweep.after, sliceStreams);
    for (const { no, key, head } of heads) {
      const stream = this.#streams.known(no, key, head);
      const due = dueOf(stream, retentionOf(stream.environmentUid), sweep.now);
      if (!stream.isClosed) await isKeyGone(vault, stream.connectionUid);
      const before = round.changes.length;
      const hasMore = applyRetention(changes, stream, due, sliceRecords);
      if (round.changes.length > before) {
        this.#streams.keep(stream);
        round.touched.add(stream);
      }
      if (hasMore) return;
      sweep.after = no;
      if (round.changes.length >= sliceRecords) return;
    }
    if (heads.length < sliceStreams) this.#sweep = null;
  }

  /**
   * A log deletes compacted messages only when its newest segment is rolled, and a segment of a quiet partition never
   * is: an empty message, once a day, lets pruned and deleted data go.
   */
  async #keepRolling(now: Instant): Promise<void> {
    const { log } = this.#services;
    const position = { topic: recordsTopic, partition: this.#partition };
    const [start, end, recent] = await Promise.all([
      log.startOffset(recordsTopic, this.#partition),
      log.endOffset(recordsTopic, this.#partition),
      log.offsetAt(recordsTopic, this.#partition, now - sweptEveryMs / 2),
    ]);
    if (start === end || recent < end) return;
    await log.append([{ ...position, messages: [{ key: reservedKey, value: null, headers: {} }] }]);
  }
}

/** Prunes or purges up to `limit` records of the stream; returns whether there may be more. */
export function applyRetention(
  changes: Changes,
  stream: StreamState,
  due: DueRetention,
  limit: number,
): boolean {
  const { store } = changes;
  const all = Number.MAX_SAFE_INTEGER;
  const placed =
    due.action === 'delete'
      ? store.placed(stream.no, 0, all, limit)
      : store.placedWithPayload(stream.no, 0, all, limit);
  if (placed.length === 0) return false;
  store.erase();
  const ids = placed.map(({ id }) => id);
  const states = store.states(stream.no, ids);
  changes.begin(stream, originOf(stream));
  for (const id of ids) {
    const state = states.get(id) ?? null;
    // Modification times ascend with the positions.
    if (due.action === 'prune' && (state?.modifiedAt ?? 0) > due.until) return false;
    const at = Math.max(changes.now, changes.lastModifiedAt);
    const command = due.action === 'delete' ? { type: 'Purge' } : { type: 'Prune', at };
    for (const event of record.decide(command as Parameters<typeof record.decide>[0], state)) {
      changes.add(id, event, noPayload);
    }
  }
  return placed.length === limit;
}

/** No caller requests retention. */
const originOf = ({ integration, connectionId }: StreamState) => ({
  integration,
  connection_id: connectionId,
  actor: 'system',
  run_id: null,
  sync_name: null,
});

/** Streams of one reply: counting the records of a large one takes some ten milliseconds. */
const previewStreams = 500;

/** The expired data of an environment in this partition. */
export async function preview(
  { log, clock, retentionOf }: OwnerServices,
  { store, streams }: { readonly store: StateStore; readonly streams: Streams },
  environmentUid: string,
  { after }: RetentionPreviewArgs,
): Promise<RetentionPreviewAnswer> {
  const now = clock.now();
  const heads = store.headsAfter(after, previewStreams, `${environmentUid}/`);
  const found: DueStream[] = [];
  for (const { no, key, head } of heads) {
    const stream = streams.known(no, key, head);
    const due = dueOf(stream, retentionOf(environmentUid), now);
    const records = store.count(no, due.action === 'prune' ? due.until : null);
    if (records === 0) continue;
    const { integration, connectionId, model, variant, lastRunAt } = stream;
    const { action } = due;
    found.push({ action, records, integration, connectionId, model, variant, lastRunAt });
  }
  const last = heads.at(-1)?.no ?? null;
  const next = heads.length < previewStreams ? null : last;
  return { isClockTrusted: await isClockTrusted(log, now), streams: found, next };
}

const configTopic = 'svc.config.v1';

/** The retention of records of each environment, as this thread knows it. */
interface RetentionPolicies extends AsyncDisposable {
  /** Of an environment without a setting: the default. */
  of(environmentUid: string): Retention;
}

/** Resolves when everything decided before the call is applied. Owners have no view of the control plane. */
export async function followRetention(
  deps: LogPorts & {
    readonly logger: Pick<Logger, 'error'>;
  },
): Promise<RetentionPolicies> {
  const { log, schemas, logger } = deps;
  const codec = await schemas.codec<ConfigChanged>(configTopic);
  const policies = new Map<string, Retention>();
  const ending = new AbortController();
  const position = { topic: configTopic, partition: 0 };
  let next = 0;

  const apply = (batch: Batch): void => {
    next = batch.next;
    for (const { key, value } of batch.messages) {
      if (value === null || !key.startsWith('environment/')) continue;
      const { environment_id: uid, document } = codec.decode(value);
      const { retention } = JSON.parse(document) as { readonly retention?: PublicRetention };
      policies.set(uid, retention === undefined ? defaultRetention : retentionOf(retention));
    }
  };
  for await (const batch of log.read({ ...position, offset: 0 })) apply(batch);
  const following = consume(log, [{ ...position, offset: next }], apply, {
    signal: ending.signal,
    failed: (err) => logger.error({ err }, 'following the settings of environments failed'),
  });
  return {
    of: (environmentUid) => policies.get(environmentUid) ?? defaultRetention,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await following;
    },
  };
}
