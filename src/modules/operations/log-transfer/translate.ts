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
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import {
  headsTopic,
  recordsTopic,
  type StreamHeadValue,
} from '#modules/records/model/stream-head.ts';
import { consumerGroup, isConsumerGroup } from '#streams/consumer-groups.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import type { ConsumerGroup } from '../consumer-groups/consumer-group.ts';
import type { OffsetMaps } from './offset-map.ts';

/** The copy of a message from one partition to another. */
export interface Move {
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
