import { z } from 'zod';
import { data, timestamp } from '../../../http/responses.ts';
import { consumerGroup } from '../../../../streams/consumer-groups.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { GroupFacts, MadeReset } from './handlers.ts';
import type { Move } from './positions.ts';
import type { PartitionReset } from '../../../../streams/reactor/reset-state.ts';

const reset = z.strictObject({
  id: z.string(),
  from: z.int(),
  to: z.int(),
  repeat: z.boolean(),
  by: z.string(),
  asked_at: timestamp,
  applied_at: timestamp.nullable(),
});

const groupShape = z
  .strictObject({
    name: z.string(),
    topic: z.string(),
    why: z.string(),
    resettable: z.boolean(),
    can_repeat: z.boolean(),
    replay: z.string(),
    lag: z.int(),
    partitions: z.array(
      z.strictObject({
        partition: z.int(),
        start: z.int(),
        committed: z.int().nullable(),
        end: z.int(),
        lag: z.int(),
        reset: reset.nullable(),
      }),
    ),
  })
  .meta({ id: 'ConsumerGroup' });

export const oneGroupShape = data(groupShape);
export const groupsShape = data(z.array(groupShape));

/** The moves of a reset; with `dry_run` those it would make. */
export const resetShape = data(
  z
    .strictObject({
      dry_run: z.boolean(),
      id: z.string().optional(),
      replayed: z.int(),
      skipped: z.int(),
      partitions: z.array(
        z.strictObject({
          partition: z.int(),
          from: z.int(),
          to: z.int(),
          replayed: z.int(),
          skipped: z.int(),
          state: z.enum(['applied', 'waiting']).optional(),
        }),
      ),
    })
    .meta({ id: 'ConsumerGroupReset' }),
);

export function presentGroup({ name, positions, resets }: GroupFacts) {
  const { topic, why, replay } = consumerGroup(name);
  const isFixed = 'fixed' in replay;
  return {
    name,
    topic,
    why,
    resettable: !isFixed,
    can_repeat: !isFixed && replay.canRepeat === true,
    replay: isFixed ? replay.fixed : replay.effect,
    lag: positions.reduce((sum, { lag }) => sum + lag, 0),
    partitions: positions.map((position) => {
      const reset = resets[String(position.partition)];
      return { ...position, reset: reset === undefined ? null : presentReset(reset) };
    }),
  };
}

function presentReset({ id, from, to, isRepeat, by, at, appliedAt }: PartitionReset) {
  const request = { id, from, to, repeat: isRepeat, by, asked_at: isoMillis(at) };
  return { ...request, applied_at: appliedAt === null ? null : isoMillis(appliedAt) };
}

export const presentPlan = (moves: readonly Move[]) => ({
  dry_run: true,
  replayed: moves.reduce((sum, { replayed }) => sum + replayed, 0),
  skipped: moves.reduce((sum, { skipped }) => sum + skipped, 0),
  partitions: moves.map(presentMove),
});

export const presentMade = ({ id, moves, applied }: MadeReset) => ({
  ...presentPlan(moves),
  dry_run: false,
  id,
  partitions: moves.map((move) => {
    const state = applied.has(move.partition) ? 'applied' : 'waiting';
    return { ...presentMove(move), state };
  }),
});

const presentMove = ({ partition, from, to, replayed, skipped }: Move) => ({
  partition,
  from,
  to,
  replayed,
  skipped,
});
