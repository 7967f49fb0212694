import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { data, timestamp } from '#http/responses.ts';
import { isoMillis, isoMillisOrNull } from '#kernel/time.ts';
import { consumerGroup } from '#streams/consumer-groups.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import type { GroupFacts, MadeReset } from './handlers.ts';
import type { Move, PartitionPosition } from './positions.ts';

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

const reset = representation<PartitionReset>()({
  id: z.string().describe('Id of the reset.'),
  from: z.int(),
  to: z.int(),
  repeat: [z.boolean().describe('Whether effects may be repeated.'), ({ isRepeat }) => isRepeat],
  by: z.string(),
  asked_at: [timestamp.describe('Time of the request (RFC 3339).'), ({ at }) => isoMillis(at)],
  applied_at: [
    timestamp.nullable().describe('Time at which it was applied (RFC 3339); null before.'),
    ({ appliedAt }) => isoMillisOrNull(appliedAt),
  ],
});

const position = representation<
  PartitionPosition & { readonly reset: PartitionReset | undefined }
>()({
  partition: z.int(),
  start: z.int().describe('Offset of the first message that is left.'),
  committed: z.int().nullable().describe('Committed offset; null without one.'),
  end: z.int(),
  lag: z.int(),
  reset: [
    reset.schema.nullable().describe('Last reset of the partition; null without one.'),
    (one) => (one.reset === undefined ? null : reset.of(one.reset)),
  ],
});

const group = representation<GroupFacts & ReturnType<typeof consumerGroup>>()({
  name: z.string().describe('Name of the consumer group.'),
  topic: z.string(),
  why: z.string().describe('What the consumer does.'),
  resettable: [
    z.boolean().describe('Whether its position can be moved.'),
    ({ replay }) => !('fixed' in replay),
  ],
  can_repeat: [
    z.boolean().describe('Whether `repeat` allows effects to be repeated.'),
    ({ replay }) => !('fixed' in replay) && replay.canRepeat === true,
  ],
  replay: [
    z.string().describe('What a replay of its messages does.'),
    ({ replay }) => ('fixed' in replay ? replay.fixed : replay.effect),
  ],
  lag: [z.int(), ({ positions }) => sum(positions.map(({ lag }) => lag))],
  partitions: [
    z.array(position.schema),
    ({ positions, resets }) =>
      positions.map((one) => position.of({ ...one, reset: resets[String(one.partition)] })),
  ],
});

const groupShape = group.schema.meta({ id: 'ConsumerGroup' });
export const oneGroupShape = data(groupShape);
export const groupsShape = data(z.array(groupShape));

export const presentGroup = (facts: GroupFacts) =>
  group.of({ ...facts, ...consumerGroup(facts.name) });

/** A planned reset (`made` is null), or a requested one. */
interface Reset {
  readonly moves: readonly Move[];
  readonly made: MadeReset | null;
}

const move = representation<Move & { readonly made: MadeReset | null }>()({
  partition: z.int(),
  from: z.int(),
  to: z.int(),
  replayed: z.int(),
  skipped: z.int(),
  state: [
    z
      .enum(['applied', 'waiting'])
      .optional()
      .describe('Whether the owner of the partition has applied it; absent in a dry run.'),
    ({ partition, made }) => {
      if (made === null) return undefined;
      return made.applied.has(partition) ? 'applied' : 'waiting';
    },
  ],
});

/** The moves of a reset; with `dry_run` those it would make. */
const moves = representation<Reset>()({
  dry_run: [z.boolean(), ({ made }) => made === null],
  id: [
    z.string().optional().describe('Id of the reset; absent in a dry run.'),
    ({ made }) => made?.id,
  ],
  replayed: [z.int(), (one) => sum(one.moves.map(({ replayed }) => replayed))],
  skipped: [z.int(), (one) => sum(one.moves.map(({ skipped }) => skipped))],
  partitions: [
    z.array(move.schema),
    ({ moves: all, made }) => all.map((one) => move.of({ ...one, made })),
  ],
});

export const resetShape = data(moves.schema.meta({ id: 'ConsumerGroupReset' }));
export const presentPlan = (planned: readonly Move[]) => moves.of({ moves: planned, made: null });
export const presentMade = (made: MadeReset) => moves.of({ moves: made.moves, made });
