import {
  commandsTopic,
  controlTopic,
  ownerKey,
  type EntityValue,
  type OwnerNote,
} from '#control-plane/message-codec.ts';
import { joinKey } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import type { ActionRun } from '#modules/functions/actions/state.ts';
import type { BodyPlace, RunChanged } from '#modules/functions/runs/ledger/events.ts';
import type { ConsumerGroup } from '#modules/operations/consumer-groups/consumer-group.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import {
  headsTopic,
  recordsTopic,
  type StreamHeadValue,
} from '#modules/records/model/stream-head.ts';
import { consumerGroup, isConsumerGroup } from '#streams/consumer-groups.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';

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

function head(value: StreamHeadValue, { offsets, from, to }: Move): StreamHeadValue {
  // The last processed message; the next one follows it.
  const done = (offset: number) => offsets.next(recordCommandsTopic, from, to, offset + 1) - 1;
  const job = value.job === null ? null : (JSON.parse(value.job) as { readonly offset: number });
  return {
    ...value,
    command_offset: done(value.command_offset),
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

/** Entity kinds whose state contains offsets. */
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
