import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecuteOptions, ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import { GatewayError } from '#kernel/errors.ts';
import { scrub } from '#kernel/scrub.ts';
import type { EventLog } from '#ports/event-log.ts';
import {
  consumerGroup,
  consumerGroups,
  isConsumerGroup,
  type ConsumerGroupName,
} from '#streams/consumer-groups.ts';
import { aboutDeadLetter, stepMessage } from '#streams/dead-letters/messages.ts';
import type { OperatorRequests } from '#streams/reactor/reactor.ts';
import type { PartitionReset } from '#streams/reactor/reset-state.ts';
import { parkTo } from '../dead-letters/park.ts';
import type { DeadLetters } from '../dead-letters/view.ts';
import { consumerGroupRef, type ConsumerGroupEntity } from './entity.ts';
import {
  plannedMoves,
  positionsOf,
  type Move,
  type PartitionPosition,
  type Target,
} from './positions.ts';

interface Deps {
  readonly control: ControlPlane;
  readonly log: EventLog;
}

export interface GroupFacts {
  readonly name: ConsumerGroupName;
  readonly positions: readonly PartitionPosition[];
  /** The last reset of each partition, by its number. */
  readonly resets: Readonly<Record<string, PartitionReset>>;
}

export function listGroups(deps: Deps): Promise<GroupFacts[]> {
  const names = Object.keys(consumerGroups).filter(isConsumerGroup);
  return Promise.all(names.map((name) => factsOf(deps, name)));
}

/** @throws GatewayError `not_found` */
export function findGroup(deps: Deps, name: string): Promise<GroupFacts> {
  if (isConsumerGroup(name)) return factsOf(deps, name);
  const existing = Object.keys(consumerGroups).join(', ');
  throw new GatewayError('not_found', {
    message: `No consumer group ${name}: there are ${existing}.`,
  });
}

async function factsOf({ control, log }: Deps, name: ConsumerGroupName): Promise<GroupFacts> {
  await control.view.caughtUp();
  const ref = consumerGroupRef(name);
  const positions = await positionsOf(log, name, consumerGroup(name).topic);
  const resets = control.view.find(ref)?.resets ?? {};
  return { name, positions, resets };
}

export interface WantedReset {
  readonly to: Target;
  /** All when null. */
  readonly partitions: readonly number[] | null;
  readonly isRepeat: boolean;
  readonly maySkip: boolean;
}

/**
 * The moves that a reset would make; changes nothing.
 * @throws GatewayError `not_found`; `consumer_not_resettable` with the reason; `invalid_body`
 */
export async function planReset(deps: Deps, name: string, wanted: WantedReset): Promise<Move[]> {
  const { positions, name: group } = await findGroup(deps, name);
  const { topic, replay } = consumerGroup(group);
  if ('fixed' in replay) {
    throw new GatewayError('consumer_not_resettable', {
      message: `The position of ${group} can't be moved. ${replay.fixed}`,
    });
  }
  if (wanted.isRepeat && replay.canRepeat !== true) {
    throw new GatewayError('consumer_not_resettable', {
      message: `${group} does not repeat finished messages. ${replay.effect}`,
    });
  }
  return plannedMoves(deps.log, topic, positions, wanted);
}

/** How long a response waits for the holders of the partitions. */
const applyWithinMs = 5_000;
const lookEveryMs = 50;

export interface MadeReset {
  readonly id: string;
  readonly moves: readonly Move[];
  /** Partitions whose position has moved; the others move when they are assigned. */
  readonly applied: ReadonlySet<number>;
}

/**
 * Requests the reset and waits for a limited time for the holders of the partitions.
 * @throws GatewayError as `planReset`; `reset_skips_messages` unless skipping is allowed
 */
export async function resetGroup(
  deps: Deps,
  name: string,
  wanted: WantedReset,
  options: ExecuteOptions,
): Promise<MadeReset> {
  const moves = await planReset(deps, name, wanted);
  const skipped = moves.reduce((sum, move) => sum + move.skipped, 0);
  if (skipped > 0 && !wanted.maySkip) {
    throw new GatewayError('reset_skips_messages', {
      message: `The reset would skip up to ${skipped} unprocessed messages of ${name}: allow it with skip.`,
    });
  }
  const ref = consumerGroupRef(name);
  const ordered = moves.map(({ partition, from, to, until }) => ({
    partition,
    from,
    to,
    until,
  }));
  const { isRepeat } = wanted;
  const body: CommandOf<ConsumerGroupEntity> = {
    type: 'Reset',
    name,
    id: randomUUID(),
    moves: ordered,
    isRepeat,
    by: options.actor,
  };
  const group = await deps.control.execute(ref, body, options);
  // A repeated Idempotency-Key gets the first request.
  const id = group?.resets[String(moves[0]?.partition)]?.id ?? body.id;
  return { id, moves, applied: await appliedSoon(deps, name, id) };
}

async function appliedSoon({ control }: Deps, name: string, id: string): Promise<Set<number>> {
  const ref = consumerGroupRef(name);
  const until = performance.now() + applyWithinMs;
  for (;;) {
    const resets = control.view.find(ref)?.resets ?? {};
    const ours = Object.entries(resets).filter(([, reset]) => reset.id === id);
    const applied = ours.filter(([, { appliedAt }]) => appliedAt !== null);
    if (applied.length === ours.length || performance.now() > until) {
      return new Set(applied.map(([partition]) => Number(partition)));
    }
    await delay(lookEveryMs);
  }
}

interface OperatorRequestsDeps {
  readonly control: ControlPlane;
  readonly deadLetters: DeadLetters;
  readonly publisher: Publisher;
}

/** The operator requests of one consumer group, from the views of this node. */
export function openOperatorRequests(deps: OperatorRequestsDeps, group: string): OperatorRequests {
  const { control, deadLetters, publisher } = deps;
  const ref = consumerGroupRef(group);
  const resetOf = (partition: number): PartitionReset | null =>
    control.view.find(ref)?.resets[String(partition)] ?? null;
  return {
    park: parkTo(publisher, group),
    async current() {
      await Promise.all([control.view.caughtUp(), deadLetters.caughtUp()]);
    },
    pendingReset(partition) {
      const reset = resetOf(partition);
      return reset?.appliedAt === null ? reset : null;
    },
    async applied(partition, { id }) {
      await control.execute(ref, { type: 'Applied', id, partition }, { actor: 'system' });
    },
    replayAt(partition, offset) {
      const reset = resetOf(partition);
      if (reset === null || offset >= reset.until) return null;
      return { until: reset.until, isRepeat: reset.isRepeat };
    },
    nextRetry: (partition) =>
      deadLetters.tables.retrying(group).find((deadLetter) => deadLetter.partition === partition) ??
      null,
    async retryMessage(deadLetter) {
      const content = await deadLetters.valueAt(deadLetter.place);
      if (content === null) return null;
      const { topic, partition, offset, key, parkedAt } = deadLetter;
      const texts = Object.entries(content.headers).map(([name, bytes]) => {
        return [name, Buffer.from(bytes).toString()];
      });
      const headers = Object.fromEntries(texts) as Record<string, string>;
      const timestamp = Math.floor(parkedAt / 1000);
      const message = { offset, key, value: content.value, headers, timestamp };
      return { topic, partition, message, replay: null };
    },
    async retried(deadLetter, outcome) {
      const step = outcome === 'done' ? resolved : failed(outcome.error);
      await publisher.publish(
        [stepMessage(aboutDeadLetter(deadLetter), deadLetter, step)],
        'system',
      );
      await deadLetters.caughtUp();
    },
    onChange(listener) {
      const stops = [
        control.view.onChange([ref], (changed) => {
          if (changed.some(({ path }) => path[0] === group)) listener();
        }),
        deadLetters.onChange(listener),
      ];
      return () => {
        for (const stop of stops) stop();
      };
    },
  };
}

const resolved = { type: 'svc.dead-letter.resolved', attempts: 1 } as const;

const failed = (error: unknown) =>
  ({
    type: 'svc.dead-letter.retry_failed',
    attempts: 1,
    errorCode: error instanceof GatewayError ? error.code : 'server_error',
    errorMessage: scrub(error instanceof Error ? error.message : String(error)),
  }) as const;
