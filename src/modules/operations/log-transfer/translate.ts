import { consumerGroup, isConsumerGroup } from '../../../../streams/consumer-groups.ts';
import {
  commandsTopic,
  controlTopic,
  ownerKey,
  type EntityValue,
  type OwnerNote,
} from '../../../control-plane/message-codec.ts';
import type { ActionRun } from '../../functions/actions/state.ts';
import type { ConsumerGroup } from '../consumer-groups/state.ts';
import type { PartitionReset } from '../../../../streams/reactor/reset-state.ts';
import { recordCommandsTopic } from '../../records/commands.ts';
import { headsTopic, recordsTopic, type StreamHeadValue } from '../../records/stream-head.ts';
import type { BodyPlace, RunChanged } from '../../functions/runs/events.ts';
import type { OffsetMap } from './offset-map.ts';

/** Maps the offsets of a partition; those of a topic that is not imported map to themselves. */
export type Offsets = (topic: string, partition: number) => OffsetMap | null;

/** Translates the offsets in a value of the topic and partition. */
type Translate = (value: never, offsets: Offsets, partition: number) => unknown;

const bodiesTopic = 'svc.internal.run-bodies.v1';

/** Topics whose values contain offsets. They are imported after the topics that they refer to. */
export const translations: Readonly<Record<string, Translate>> = {
  [headsTopic]: head,
  [controlTopic]: entity,
  'svc.runs.v1': run,
};

const next = (offsets: Offsets, topic: string, partition: number, offset: number): number =>
  offsets(topic, partition)?.next(offset) ?? offset;

/** The last processed message; the next one follows it. */
const lastDone = (offsets: Offsets, topic: string, partition: number, offset: number): number =>
  next(offsets, topic, partition, offset + 1) - 1;

function head(value: StreamHeadValue, offsets: Offsets, partition: number): StreamHeadValue {
  const done = (offset: number) => lastDone(offsets, recordCommandsTopic, partition, offset);
  const job = value.job === null ? null : (JSON.parse(value.job) as { readonly offset: number });
  return {
    ...value,
    command_offset: done(value.command_offset),
    passes: value.passes.map((pass) => ({ ...pass, marks_offset: done(pass.marks_offset) })),
    // The command in progress is the one after the last decided command.
    job: job === null ? null : JSON.stringify({ ...job, offset: done(job.offset - 1) + 1 }),
  };
}

function entity(value: EntityValue, offsets: Offsets, partition: number): EntityValue {
  const change = states[value.kind];
  if (change === undefined) return value;
  return {
    ...value,
    state: JSON.stringify(change(JSON.parse(value.state) as never, offsets, partition)),
  };
}

/** Entity kinds whose state contains offsets. */
const states: Readonly<Record<string, Translate>> = {
  [ownerKey]: (note: OwnerNote, offsets, partition) => ({
    ...note,
    nextCommand: next(offsets, commandsTopic, partition, note.nextCommand),
  }),
  'action-run': (state: ActionRun, offsets) => ({
    ...state,
    input: placeOf(state.input, offsets),
    output: placeOf(state.output, offsets),
  }),
  'consumer-group': (state: ConsumerGroup, offsets) => {
    if (!isConsumerGroup(state.name)) return state;
    const { topic } = consumerGroup(state.name);
    const moved = Object.entries(state.resets).map(([number, reset]): [string, PartitionReset] => {
      const at = (offset: number) => next(offsets, topic, Number(number), offset);
      const { from, to, until } = reset;
      return [number, { ...reset, from: at(from), to: at(to), until: at(until) }];
    });
    return { ...state, resets: Object.fromEntries(moved) };
  },
};

function placeOf(position: BodyPlace | null, offsets: Offsets): BodyPlace | null {
  if (position === null) return null;
  const map = offsets(bodiesTopic, position.partition);
  const offset = map === null ? position.offset : map.exact(position.offset);
  return offset === null ? null : { ...position, offset };
}

function run(value: RunChanged, offsets: Offsets): RunChanged {
  const { body_partition: partition, body_offset: offset } = value;
  const body =
    partition === null || offset === null ? null : placeOf({ partition, offset }, offsets);
  return {
    ...value,
    body_partition: body?.partition ?? null,
    body_offset: body?.offset ?? null,
    // A position names the end of what a run led to.
    positions: value.positions.map((modelPlace) => ({
      ...modelPlace,
      offset: next(offsets, recordsTopic, modelPlace.partition, modelPlace.offset),
    })),
  };
}
