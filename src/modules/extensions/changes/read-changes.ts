import { findCaughtUp, type ControlPlane } from '#control-plane/control-plane.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import { payloadsOf, type PayloadOf } from '#modules/records/history/logged-changes.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import { partsOfKey } from '#modules/records/projection/batch.ts';
import type { Batch, EventLog, Position } from '#ports/event-log.ts';
import type { Codec, Schemas } from '#ports/schemas.ts';
import type { ChangeFilter, MessagePlace } from './fields.ts';
import { isWanted } from './filter.ts';
import { logPositions, type FeedPosition, type ReadPartition } from './position.ts';
import { changeText, purgedText, type ConnectionNames } from './presenter.ts';

export interface FeedServices {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly control: ControlPlane;
  readonly vault: Vault;
}

export interface FeedQuery {
  readonly environmentUid: string;
  readonly filter: ChangeFilter;
}

/** A wanted change, and how far its partition was read with it. */
export interface FeedChange extends ReadPartition {
  readonly text: string;
  readonly connectionUid: string;
  readonly place: MessagePlace;
}

/** Some messages of a partition, and how far it was read with them, wanted or not. */
export interface FeedBatch extends ReadPartition {
  readonly changes: readonly FeedChange[];
}

/** Also the longest time for which other requests of the thread wait. */
const batchBytesMax = 512 * 1024;

/**
 * The changes of an environment from the position on, without end; stops when the signal aborts. Those of one record are
 * in their order; between partitions there is none. Messages of other environments are read past, not decoded.
 * @throws GatewayError `log_unavailable`
 */
export const followChanges = (
  services: FeedServices,
  query: FeedQuery,
  position: FeedPosition,
  signal: AbortSignal,
): AsyncGenerator<FeedBatch> => {
  const options = { signal, maxBytes: batchBytesMax };
  return changesIn(services, query, position, services.log.follow(logPositions(position), options));
};

/**
 * As `followChanges`, but those before the ends first, from the partition that is furthest behind: a follower begins later, and
 * with more than a page of each partition.
 */
export const readChanges = (
  services: FeedServices,
  query: FeedQuery,
  position: FeedPosition,
  ends: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<FeedBatch> =>
  changesIn(services, query, position, batchesFrom(services.log, position, ends, signal));

async function* batchesFrom(
  log: EventLog,
  position: FeedPosition,
  ends: readonly number[],
  signal: AbortSignal,
): AsyncGenerator<Batch> {
  const options = { signal, maxBytes: batchBytesMax };
  const positions = logPositions(position);
  const behind = ({ partition, offset }: Position): number => (ends[partition] ?? 0) - offset;
  const ofMost = positions.filter((one) => behind(one) > 0).sort((a, b) => behind(b) - behind(a));
  let reached = position;
  for (const from of ofMost) {
    for await (const batch of log.read(from, options)) {
      reached = { ...reached, offsets: reached.offsets.with(batch.partition, batch.next) };
      yield batch;
    }
    if (signal.aborted) return;
  }
  yield* log.follow(logPositions(reached), options);
}

async function* changesIn(
  services: FeedServices,
  query: FeedQuery,
  position: FeedPosition,
  batches: AsyncIterable<Batch>,
): AsyncGenerator<FeedBatch> {
  const codec = await services.schemas.codec<RecordChange>(recordsTopic);
  const reader = new ChangeReader(services, query, codec);
  const epochs = [...position.epochs];
  for await (const batch of batches) {
    const { partition } = batch;
    const read = await reader.read(batch, epochs[partition] ?? 0);
    epochs[partition] = read.epoch;
    yield read;
  }
}

const purgedKeysMax = 10_000;

/** The wanted changes among the messages of an environment, as JSON. */
export class ChangeReader {
  readonly #services: FeedServices;
  readonly #query: FeedQuery;
  readonly #codec: Codec<RecordChange>;
  readonly #keyPrefix: string;
  /** Keys whose tombstone is still to come. */
  readonly #purgedKeys = new Set<string>();
  /** Of one stream: changes of a stream mostly follow each other. */
  #payloads: { readonly key: string; readonly payloadOf: PayloadOf } | null = null;
  /** By uid; of one batch. */
  #connections = new Map<string, ConnectionNames | null>();

  constructor(services: FeedServices, query: FeedQuery, codec: Codec<RecordChange>) {
    this.#services = services;
    this.#query = query;
    this.#codec = codec;
    this.#keyPrefix = `${joinKey(query.environmentUid)}/`;
  }

  /** @param fence the highest epoch read of the partition so far */
  async read({ partition, messages, next }: Batch, fence: number): Promise<FeedBatch> {
    this.#connections = new Map();
    const changes: FeedChange[] = [];
    let epoch = fence;
    for (const { key, value, offset } of messages) {
      if (!key.startsWith(this.#keyPrefix)) continue;
      const place = { partition, offset };
      const change = value === null ? null : this.#codec.decode(value);
      // A writer that had lost the partition made it.
      if (change !== null && change.owner_epoch < epoch) continue;
      epoch = change?.owner_epoch ?? epoch;
      const text =
        change === null ? await this.#purged(key, place) : await this.#changed(key, change, place);
      if (text === null) continue;
      const connectionUid = change?.connection_uid ?? partsOfKey(key)?.connectionUid ?? '';
      changes.push({ text, connectionUid, place, partition, next: offset + 1, epoch });
    }
    return { partition, changes, next, epoch };
  }

  #changed(key: string, change: RecordChange, place: MessagePlace): Promise<string | null> {
    if (change.action === 'purged') this.#awaitTombstone(key);
    return this.textOf(change, place);
  }

  /** Null: the change is of another environment, or not wanted. */
  async textOf(change: RecordChange, place: MessagePlace): Promise<string | null> {
    const { environmentUid, filter } = this.#query;
    if (change.environment_id !== environmentUid || !isWanted(change, filter)) return null;
    return changeText(change, place, await this.#payload(change));
  }

  /** Null: the key of its connection is destroyed, or the connection deleted. */
  async #payload(change: RecordChange): Promise<Buffer | null> {
    if (change.payload === null) return null;
    if ((await this.#connection(change.connection_uid)) === null) return null;
    const { environment_id: environmentUid, connection_uid: uid, model, variant } = change;
    const key = joinKey(environmentUid, uid, model, variant);
    if (this.#payloads?.key !== key) {
      this.#payloads = { key, payloadOf: payloadsOf(this.#services, key) };
    }
    return this.#payloads.payloadOf(change);
  }

  /** The purge itself is older than the log keeps what is superseded; null: it was read, or is not wanted. */
  async #purged(key: string, place: MessagePlace): Promise<string | null> {
    if (this.#purgedKeys.delete(key)) return null;
    const parts = partsOfKey(key);
    if (parts === null) return null;
    const { model, variant } = parts;
    const connection = await this.#connection(parts.connectionUid);
    const integration = connection?.integrationKey ?? null;
    const fields = { integration, connection_id: connection?.connectionId ?? null, model, variant };
    return isWanted(fields, this.#query.filter) ? purgedText(parts, place, connection) : null;
  }

  #awaitTombstone(key: string): void {
    if (this.#purgedKeys.size >= purgedKeysMax) this.#purgedKeys.clear();
    this.#purgedKeys.add(key);
  }

  /** Null: it is deleted. Its changes are younger than itself, so that a view that has caught up knows it. */
  async #connection(uid: string): Promise<ConnectionNames | null> {
    const known = this.#connections.get(uid);
    if (known !== undefined) return known;
    const { view } = this.#services.control;
    const state = await findCaughtUp(
      view,
      () => view.findBy(connectionEntity, 'uid', uid)?.state ?? null,
    );
    const found = state === null || state.isDeleting ? null : state;
    this.#connections.set(uid, found);
    return found;
  }
}
