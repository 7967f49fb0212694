import {
  commandsTopic,
  controlTopic,
  ownerKey,
  type EntityValue,
  type OwnerNote,
} from '#control-plane/message-codec.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { ActionRun } from '#modules/functions/actions/state.ts';
import type { BodyPlace, RunChanged } from '#modules/functions/runs/ledger/events.ts';
import type { ConsumerGroup } from '#modules/operations/consumer-groups/consumer-group.ts';
import { partitionOfKey } from '#modules/operations/topics/key-partition.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import {
  headsTopic,
  recordsTopic,
  type StreamHeadValue,
  reservedKey,
} from '#modules/records/model/events.ts';
import { partitionHead } from '#modules/records/owner/state/stream-state.ts';
import { deliveriesTopic } from '#modules/webhooks/webhooks-out/deliveries.ts';
import { consumerGroup, isConsumerGroup } from '#streams/consumer-groups.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import type { WebhookOut } from '#streams/values.ts';
import type { Entry } from './frames.ts';
import type { LostTail } from './lost-tail.ts';

/** Maps old offsets of a partition to new ones. Each sequence without a gap takes one entry. */
export class OffsetMap {
  /** First and last old offset of each sequence, and its first new offset. */
  readonly #first: number[] = [];
  readonly #last: number[] = [];
  readonly #now: number[] = [];
  /** Offset after everything. */
  #end = 0;

  /** Adds a message; calls are in the order of offsets. */
  add(former: number, now: number): void {
    const at = this.#first.length - 1;
    const isNext =
      this.#last[at] === former - 1 && this.#now[at] === now - (former - (this.#first[at] ?? 0));
    if (at >= 0 && isNext) this.#last[at] = former;
    else {
      this.#first.push(former);
      this.#last.push(former);
      this.#now.push(now);
    }
    this.#end = now + 1;
  }

  /** The new position of a reader: the first message at or after the old offset. */
  next(former: number): number {
    const at = this.#runAt(former);
    const first = this.#first[at];
    if (first === undefined) return this.#end;
    return (this.#now[at] ?? 0) + Math.max(0, former - first);
  }

  /** The new offset of the message; null = it was not imported. */
  exact(former: number): number | null {
    const first = this.#first[this.#runAt(former)];
    return first !== undefined && former >= first ? this.next(former) : null;
  }

  /** The first sequence that ends at or after the offset. */
  #runAt(former: number): number {
    let low = 0;
    let high = this.#last.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#last[middle] ?? 0) < former) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Where the messages of each partition went. */
export class OffsetMaps {
  /** By topic and old partition, then by new partition. */
  readonly #maps = new Map<string, Map<number, OffsetMap>>();

  /** Begins a partition; one without messages belongs to the copy, too. */
  begin(topic: string, from: number): void {
    this.#maps.set(`${topic}/${from}`, new Map());
  }

  add(topic: string, from: number, to: number, former: number, now: number): void {
    const maps = this.#maps.get(`${topic}/${from}`) ?? new Map<number, OffsetMap>();
    const map = maps.get(to) ?? new OffsetMap();
    maps.set(to, map);
    map.add(former, now);
  }

  /** `OffsetMap.next` in the new partition; offsets of a topic that is not copied stay as they are. */
  next(topic: string, from: number, to: number, former: number): number {
    const maps = this.#maps.get(`${topic}/${from}`);
    return maps === undefined ? former : (maps.get(to)?.next(former) ?? 0);
  }

  /** The new partitions that have messages of the old one. */
  targets(topic: string, from: number): readonly number[] {
    return [...(this.#maps.get(`${topic}/${from}`)?.keys() ?? [from])];
  }

  /** Where the new partition has messages of several old ones, the earliest: what is read again is known. */
  positions(topic: string, former: Readonly<Record<string, number>>): ReadonlyMap<number, number> {
    const moved = new Map<number, number>();
    for (const [number, position] of Object.entries(former)) {
      for (const to of this.targets(topic, Number(number))) {
        const next = this.next(topic, Number(number), to, position);
        moved.set(to, Math.min(next, moved.get(to) ?? next));
      }
    }
    return moved;
  }

  /** The new place of the message; null: it was not copied. */
  find(topic: string, { partition, offset }: BodyPlace): BodyPlace | null {
    const maps = this.#maps.get(`${topic}/${partition}`);
    if (maps === undefined) return { partition, offset };
    for (const [to, map] of maps) {
      const now = map.exact(offset);
      if (now !== null) return { partition: to, offset: now };
    }
    return null;
  }
}

/** The copy of a message from one partition to another. */
interface Move {
  readonly offsets: OffsetMaps;
  readonly from: number;
  readonly to: number;
  /** Number of partitions of owned topics in the new log. */
  readonly owned: number;
  /** Null: readers have seen nothing that the copy lacks. */
  readonly lost: LostTail | null;
}

/** Translates the offsets in a value. */
type Translate = (value: never, move: Move) => unknown;

const bodiesTopic = 'svc.internal.run-bodies.v1';

/** Topics whose values contain offsets. They are copied after the topics that they refer to. */
export const translations: Readonly<Record<string, Translate>> = {
  [headsTopic]: head,
  [controlTopic]: entity,
  'svc.runs.v1': run,
};

function head(value: StreamHeadValue, { offsets, from, to, lost }: Move): StreamHeadValue {
  lost?.see(from, value.last_modified_at);
  // The last processed message; the next one follows it.
  const done = (offset: number) => offsets.next(recordCommandsTopic, from, to, offset + 1) - 1;
  const job = value.job === null ? null : (JSON.parse(value.job) as { readonly offset: number });
  return {
    ...value,
    command_offset: done(value.command_offset),
    // The next change gets a later time than any that is lost.
    last_modified_at: Math.max(value.last_modified_at, lost?.until ?? 0),
    passes: value.passes.map((pass) => ({ ...pass, marks_offset: done(pass.marks_offset) })),
    // The command in progress is the one after the last decided command.
    job: job === null ? null : JSON.stringify({ ...job, offset: done(job.offset - 1) + 1 }),
  };
}

function entity(value: EntityValue, move: Move): EntityValue {
  const change = states[value.kind];
  if (change === undefined) return value;
  return { ...value, state: JSON.stringify(change(JSON.parse(value.state) as never, move)) };
}

/** A subscription, as far as it names places of the records topic. */
interface PositionedReader {
  readonly offsets: readonly number[];
  readonly parked: readonly BodyPlace[];
}

/** Entity kinds whose state contains offsets, or notes what is lost. */
const states: Readonly<Record<string, Translate>> = {
  [ownerKey]: (note: OwnerNote, { offsets, from, to }) => ({
    ...note,
    nextCommand: offsets.next(commandsTopic, from, to, note.nextCommand),
  }),
  'action-run': (state: ActionRun, { offsets }) => ({
    ...state,
    input: translatedBodyPlace(state.input, offsets),
    output: translatedBodyPlace(state.output, offsets),
  }),
  environment: (state: Environment, { lost }) => {
    if (lost === null) return state;
    return { ...state, lostChanges: [...(state.lostChanges ?? []), lost.note()] };
  },
  subscription: (state: PositionedReader, { offsets, owned }) => ({
    ...state,
    epochs: [],
    offsets: translatedOffsets(state.offsets, offsets, owned),
    parked: state.parked.flatMap((one) => {
      const found = offsets.find(recordsTopic, one);
      return found === null ? [] : [{ ...one, ...found }];
    }),
  }),
  'consumer-group': (state: ConsumerGroup, { offsets }) => {
    if (!isConsumerGroup(state.name)) return state;
    const { topic } = consumerGroup(state.name);
    const moved = Object.entries(state.resets).flatMap(([number, reset]) =>
      offsets.targets(topic, Number(number)).map((to): [string, PartitionReset] => {
        const at = (offset: number) => offsets.next(topic, Number(number), to, offset);
        const [first, next, until] = [at(reset.from), at(reset.to), at(reset.until)];
        return [String(to), { ...reset, from: first, to: next, until }];
      }),
    );
    return { ...state, resets: Object.fromEntries(moved) };
  },
};

const translatedOffsets = (
  formerOffsets: readonly number[],
  offsets: OffsetMaps,
  owned: number,
): readonly number[] => {
  const moved = offsets.positions(recordsTopic, Object.fromEntries(formerOffsets.entries()));
  return Array.from({ length: owned }, (_, partition) => moved.get(partition) ?? 0);
};

const translatedBodyPlace = (place: BodyPlace | null, offsets: OffsetMaps): BodyPlace | null =>
  place === null ? null : offsets.find(bodiesTopic, place);

function run(value: RunChanged, { offsets, owned }: Move): RunChanged {
  const { body_partition: partition, body_offset: offset } = value;
  const body =
    partition === null || offset === null
      ? null
      : translatedBodyPlace({ partition, offset }, offsets);
  const { environment_id: environment, connection_uid: connection, variant } = value;
  return {
    ...value,
    body_partition: body?.partition ?? null,
    body_offset: body?.offset ?? null,
    // A position names the end of what a run led to.
    positions: value.positions.map(({ model, ...former }) => {
      const to = partitionOf(joinKey(environment, connection, model, variant), owned);
      const end = offsets.next(recordsTopic, former.partition, to, former.offset);
      return { model, partition: to, offset: end };
    }),
  };
}

/** An entry with its value; null: it is a tombstone, or was never readable. */
export interface DecodedEntry extends Pick<Entry, 'key' | 'headers' | 'timestamp'> {
  readonly value: object | null;
}

/** Where the messages of one partition go in a log with more of them. */
export interface Placement {
  /** Whether messages are placed by their values, too. */
  readonly isByValue: boolean;
  /** Null: nowhere. */
  to(message: DecodedEntry): number | null;
  /** After the last message: what every one of the new partitions gets, as the state of the old one. */
  last(): DecodedEntry | null;
}

/** From how many partitions of the topic to how many. */
interface Growth {
  readonly from: number;
  readonly to: number;
}

/** One partition per message, and none for all: an owner's notes and the rest of its state are placed by themselves. */
export function placingOf(topic: string, partition: number, growth: Growth): Placement {
  if (growth.from === growth.to) {
    return { isByValue: false, to: () => partition, last: () => null };
  }
  if (topic === headsTopic) return placeHeads(growth);
  if (topic === controlTopic) return placeEntities(growth);
  const isByValue = topic === deliveriesTopic;
  return { isByValue, to: (message) => partitionOfEntry(topic, message, growth), last: () => null };
}

function partitionOfEntry(
  topic: string,
  { key, value }: DecodedEntry,
  { to }: Growth,
): number | null {
  // The filler of an old partition: the new ones get fillers of their own.
  if (topic === recordsTopic && key === reservedKey) return null;
  const placed = partitionOfKey(topic, key, to);
  if (placed !== null || value === null) return placed ?? partitionOf(key, to);
  const {
    environment_id: environment,
    integration,
    connection_id: connection,
  } = value as WebhookOut;
  return partitionOf(joinKey(environment, integration ?? '', connection ?? '-'), to);
}

/** The state of the partition (epoch, last command, last time) is that of all its heads together. */
function placeHeads({ to }: Growth): Placement {
  let last: DecodedEntry | null = null;
  let meta = { epoch: 0, command: -1, lastModifiedAt: 0 };
  return {
    isByValue: true,
    to(message) {
      const { key, value } = message;
      if (value !== null) {
        const { owner_epoch, command_offset, last_modified_at } = value as StreamHeadValue;
        meta = {
          epoch: Math.max(meta.epoch, owner_epoch),
          command: Math.max(meta.command, command_offset),
          lastModifiedAt: Math.max(meta.lastModifiedAt, last_modified_at),
        };
        last = message;
      }
      return key === reservedKey ? null : partitionOf(key, to);
    },
    last: () => (last === null ? null : { ...last, key: reservedKey, value: partitionHead(meta) }),
  };
}

/** An entity is placed by its scope, which a tombstone does not name; one of no known entity removes nothing. */
function placeEntities({ from, to }: Growth): Placement {
  const places = new Map<string, number>();
  let note: DecodedEntry | null = null;
  return {
    isByValue: true,
    to(message) {
      const { key, value } = message;
      if (key === ownerKey) {
        note = message;
        return null;
      }
      if (value === null) return places.get(key) ?? null;
      const place = partitionOf((value as EntityValue).scope, to);
      places.set(key, place);
      return place;
    },
    last() {
      if (note?.value == null) return null;
      const value = note.value as EntityValue;
      const state = JSON.parse(value.state) as OwnerNote;
      // Ids that were given stay given: an owner gives every n-th, n being the number of partitions.
      const numbers = Math.ceil((state.numbers * from) / to);
      return { ...note, value: { ...value, state: JSON.stringify({ ...state, numbers }) } };
    },
  };
}
