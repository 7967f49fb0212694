import { joinKey } from '#kernel/ids.ts';
import { isoMicros, type Instant } from '#kernel/time.ts';
import { reservedKey, type RecordChange } from '#modules/records/model/events.ts';
import { partsOfKey, type Places } from '#modules/records/projection/batch.ts';
import type { ReadMessage } from '#ports/event-log.ts';
import type { Codec } from '#ports/schemas.ts';
import type { BatchRange } from '#streams/projector/table-projector.ts';
import type { TabWriter } from '#tables/rows.ts';
import type { CustomProjection, ProjectionVersion } from './custom-projection.ts';
import type { MappedRows } from './map-changes.ts';

/** The range of one partition in a batch. */
export interface Range extends BatchRange {
  readonly first: number;
  last: number;
  next: number;
  lastAt: Instant;
  epoch: number;
  /** Whether rows were removed for good. */
  hasRemoved: boolean;
}

/** The record of a change, as its row names it. */
interface Subject {
  readonly partition: number;
  readonly offset: number;
  readonly stream: string;
  readonly recordId: string;
  readonly integration: string;
  readonly connectionId: string;
  readonly model: string;
  readonly variant: string;
  /** Microseconds. */
  readonly modifiedAt: number;
}

/** The outcome of a change for its record: `change` is to be mapped, as JSON. */
export type Entry = Subject &
  ({ readonly change: string } | { readonly error: string } | { readonly isGone: true });

type ToMap = Extract<Entry, { readonly change: string }>;

/** Changes that are mapped by one run of the sandbox. */
interface MappingRun {
  readonly entries: readonly ToMap[];
  readonly mapped: Promise<readonly MappedRows[]>;
}

/** An isolate has a fixed cost. */
const runChangesMax = 4_000;
const runBytesMax = 2 * 1024 ** 2;

/** Maps changes, each as JSON text, in their order. */
export type MapRun = (changes: readonly string[]) => Promise<readonly MappedRows[]>;

/** Changes of any partitions, for one insert. They are mapped while further ones are added. */
export class Batch {
  readonly ranges = new Map<number, Range>();
  readonly entries: Entry[] = [];
  bytes = 0;
  #runs: MappingRun[] = [];
  /** The changes of the next run. */
  #waiting: ToMap[] = [];
  #waitingBytes = 0;

  get isEmpty(): boolean {
    return this.ranges.size === 0;
  }

  /** The same messages always give the same token. */
  get token(): string {
    const parts = [...this.ranges].map(([at, { first, last }]) => `${at}:${first}-${last}`);
    return parts.join(',');
  }

  /** Records that the partition was read up to the offset. */
  reach(partition: number, first: number, next: number, at: Instant): Range {
    let range = this.ranges.get(partition);
    if (range === undefined) {
      range = { first, last: next - 1, next, lastAt: at, epoch: 0, hasRemoved: false };
      this.ranges.set(partition, range);
    }
    range.last = Math.max(range.last, next - 1);
    range.next = Math.max(range.next, next);
    range.lastAt = Math.max(range.lastAt, at);
    return range;
  }

  /** @param map maps changes in a run of their own */
  add(entry: Entry, map: MapRun): void {
    this.entries.push(entry);
    if (!('change' in entry)) return;
    const { length } = entry.change;
    this.bytes += length;
    this.#waiting.push(entry);
    this.#waitingBytes += length;
    if (this.#waiting.length >= runChangesMax || this.#waitingBytes >= runBytesMax) this.#run(map);
  }

  #run(map: MapRun): void {
    const entries = this.#waiting;
    const mapped = map(entries.map(({ change }) => change));
    // It is awaited by `mapped`, later.
    mapped.catch(() => undefined);
    this.#runs.push({ entries, mapped });
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** The rows of all changes. @throws what `map` throws */
  async mapped(map: MapRun): Promise<ReadonlyMap<Entry, MappedRows>> {
    if (this.#waiting.length > 0) this.#run(map);
    const found = new Map<Entry, MappedRows>();
    for (const { entries, mapped } of this.#runs) {
      for (const [at, rows] of (await mapped).entries()) {
        const entry = entries[at];
        if (entry !== undefined) found.set(entry, rows);
      }
    }
    return found;
  }

  clear(): void {
    this.ranges.clear();
    this.entries.length = 0;
    this.bytes = 0;
    this.#runs = [];
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

export function writeRow(writer: TabWriter, entry: Entry, mapped: MappedRows | null): void {
  const error =
    'error' in entry ? entry.error : mapped !== null && 'error' in mapped ? mapped.error : '';
  writer.uint(entry.partition);
  writer.ascii(entry.stream);
  writer.string(entry.recordId);
  writer.uint(entry.offset);
  writer.uint('isGone' in entry ? 1 : 0);
  writer.string(entry.integration);
  writer.string(entry.connectionId);
  writer.string(entry.model);
  writer.string(entry.variant);
  writer.time(entry.modifiedAt);
  writer.string(error);
  writer.string(mapped !== null && 'values' in mapped ? mapped.values : '');
  writer.endRow();
}

/** Finds the changes that a projection takes. */
export class ChangeSelection {
  readonly #keyPrefix: string;
  readonly #models: ReadonlySet<string>;
  readonly #integrations: ReadonlySet<string> | null;
  readonly #decoder: Pick<Codec<RecordChange>, 'decode'>;
  readonly #places: Places;
  /** By partition, the highest epoch of an owner: a lower one was fenced and is ignored. */
  readonly #epochs: Map<number, number>;
  /** Changes of one stream come in long runs. */
  #stream: { readonly of: RecordChange; readonly text: string } | null = null;

  constructor(
    { environmentUid }: Pick<CustomProjection, 'environmentUid'>,
    { models, integrations }: ProjectionVersion,
    deps: {
      readonly decoder: Pick<Codec<RecordChange>, 'decode'>;
      readonly places: Places;
      readonly epochs: ReadonlyMap<number, number>;
    },
  ) {
    this.#keyPrefix = `${joinKey(environmentUid)}/`;
    this.#models = new Set(models);
    this.#integrations = integrations === null ? null : new Set(integrations);
    this.#decoder = deps.decoder;
    this.#places = deps.places;
    this.#epochs = new Map(deps.epochs);
  }

  /** Null: it is of another environment, model or integration, or from a fenced owner. @throws for unreadable bytes */
  entryOf(range: Range, partition: number, message: ReadMessage): Entry | null {
    const { key, value, offset } = message;
    if (key === reservedKey || !key.startsWith(this.#keyPrefix)) return null;
    if (value === null) return this.#buried(range, partition, offset, key);
    const change = this.#decoder.decode(value);
    if (change.owner_epoch < (this.#epochs.get(partition) ?? 0)) return null;
    this.#epochs.set(partition, change.owner_epoch);
    range.epoch = change.owner_epoch;
    const { integration, model, variant, action } = change;
    if (!this.#models.has(model)) return null;
    if (this.#integrations?.has(integration ?? '') === false) return null;
    const subject: Subject = {
      partition,
      offset,
      stream: this.#numberOf(change.environment_id, change.connection_uid, model, variant),
      recordId: change.record_id,
      integration: integration ?? '',
      connectionId: change.connection_id ?? '',
      model,
      variant,
      modifiedAt: change.last_modified_at,
    };
    const isGone = change.payload === null || change.deleted_at !== null || action === 'deleted';
    if (isGone) {
      range.hasRemoved = true;
      return { ...subject, isGone };
    }
    if (change.payload_encoding !== 'json')
      return { ...subject, error: 'The payload is sealed: save the record again.' };
    return { ...subject, change: this.#changeText(change) };
  }

  /** The tombstone of a purged record, of which only the key is left. */
  #buried(range: Range, partition: number, offset: number, key: string): Entry | null {
    const parts = partsOfKey(key);
    if (parts === null || !this.#models.has(parts.model)) return null;
    const { environmentUid, connectionUid, model, variant, recordId } = parts;
    range.hasRemoved = true;
    return {
      partition,
      offset,
      stream: this.#numberOf(environmentUid, connectionUid, model, variant),
      recordId,
      integration: '',
      connectionId: '',
      model,
      variant,
      modifiedAt: 0,
      isGone: true,
    };
  }

  #numberOf(...[environmentUid, connectionUid, model, variant]: Parameters<Places['of']>): string {
    return this.#places.of(environmentUid, connectionUid, model, variant).number;
  }

  /** JSON of a `ProjectedChange`; the payload is passed on as it was saved. */
  #changeText(change: RecordChange): string {
    const action = change.action === 'added' ? 'added' : 'updated';
    const payload = Buffer.from(change.payload ?? []).toString();
    return `${this.#streamText(change)}"action":"${action}","record_id":${JSON.stringify(change.record_id)},"first_seen_at":"${isoMicros(change.first_seen_at)}","last_modified_at":"${isoMicros(change.last_modified_at)}","record":${payload}}`;
  }

  #streamText(change: RecordChange): string {
    const { integration, connection_id: connection, model, variant } = change;
    const last = this.#stream?.of;
    const isSame =
      last?.integration === integration &&
      last.connection_id === connection &&
      last.model === model &&
      last.variant === variant;
    if (this.#stream === null || !isSame) {
      const fields = {
        integration: integration ?? '',
        connection_id: connection ?? '',
        model,
        variant,
      };
      this.#stream = { of: change, text: `${JSON.stringify(fields).slice(0, -1)},` };
    }
    return this.#stream.text;
  }
}
