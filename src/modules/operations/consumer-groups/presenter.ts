import { consumerGroup } from '../../../../streams/consumer-groups.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { GroupFacts, MadeReset } from './handlers.ts';
import type { Move } from './positions.ts';
import type { PartitionReset } from '../../../../streams/reactor/reset-state.ts';

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
