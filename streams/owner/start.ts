import { join } from 'node:path';
import type { EntityDefinitions } from '#control-plane/entity.ts';
import type { InProcessOwners } from '#control-plane/in-process-owners.ts';
import {
  commandsTopic,
  controlTopic,
  type CommandValue,
  type EntityValue,
} from '#control-plane/message-codec.ts';
import type { Ports } from '#control-plane/ports.ts';
import { partitionOf } from '#kernel/partition.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import { HeldPartitions } from '../held-partitions.ts';
import { ownersGroup } from './decide-command.ts';
import { ownPartition, type OnLogIncomplete } from './own-partition.ts';
import { PartitionOwner, type OwnerDeps } from './partition-owner.ts';
import { ControlStateStore } from './state-store.ts';
import { openTopicWriters } from './topic-writers.ts';

const positionEveryMs = 1_000;
const trimEveryMs = 3_600_000;
const commandsKeptMs = dayMs;

export interface ControlOwnersDeps extends Ports {
  /** For the state stores, one file per partition; may be deleted while stopped. */
  readonly folder: string;
  /** Every kind whose commands may arrive. */
  readonly definitions: EntityDefinitions;
  readonly onLogIncomplete?: OnLogIncomplete;
  /** `control:before-commit:<kind>` and `control:after-commit:<kind>`: around a transaction that changes such an entity. */
  readonly faultPoint?: (name: string) => void;
}

/**
 * Owns the partitions of the control plane that the group assigns to this node: decides their commands until
 * disposed of.
 */
export async function startControlOwners(
  deps: ControlOwnersDeps,
): Promise<InProcessOwners & AsyncDisposable> {
  const { log, schemas, clock, logger, folder, definitions, onLogIncomplete, faultPoint } = deps;
  const ownerDeps: OwnerDeps = {
    log,
    clock,
    logger,
    definitions,
    writers: await openTopicWriters(log, schemas, definitions),
    commands: await schemas.codec<CommandValue>(commandsTopic),
    entities: await schemas.codec<EntityValue>(controlTopic),
    partitions: await log.partitions(controlTopic),
    ...(faultPoint === undefined ? {} : { faultPoint }),
  };
  const owners = new Map<number, PartitionOwner>();
  const held = new HeldPartitions((partition, signal) => {
    const file = join(folder, `control-${partition}.sqlite`);
    const own = (restored: () => void) =>
      holdOnce(ownerDeps, { partition, file, owners, restored }, signal);
    return ownPartition(own, {
      ...{ partition, file, logger, signal },
      ...(onLogIncomplete === undefined ? {} : { onLogIncomplete }),
    });
  });
  const membership = await log.join(ownersGroup, [commandsTopic], held);
  const steps = watchClockSteps(clock, () => {
    for (const owner of owners.values()) owner.lookForDue();
  });

  return {
    async decide(command, trace) {
      const scope = command.items[0]?.ref.scope ?? '';
      const owner = owners.get(partitionOf(scope, ownerDeps.partitions));
      return owner?.decide(command, trace) ?? null;
    },
    async [Symbol.asyncDispose]() {
      steps[Symbol.dispose]();
      await membership[Symbol.asyncDispose]();
      await held.releaseAll();
    },
  };
}

/** A partition, its state file, and the registry of running owners. */
interface OwnedPartition {
  readonly partition: number;
  readonly file: string;
  readonly owners: Map<number, PartitionOwner>;
  readonly restored: () => void;
}

async function holdOnce(
  deps: OwnerDeps,
  { partition, file, owners, restored }: OwnedPartition,
  signal: AbortSignal,
): Promise<void> {
  await using writer = await deps.log.openWriter(`control/${partition}`);
  using store = disposable(
    new ControlStateStore(file, (reason) =>
      deps.logger.warn({ partition, file, reason }, 'a state store is made of the log again'),
    ),
  );
  using publishedPosition = publishPosition(deps, partition);
  const owner = new PartitionOwner(deps, partition, {
    store: store.store,
    writer,
    commanded: publishedPosition.reached,
    restored,
  });
  const trimming = setInterval(() => {
    trim(deps, partition, owner.nextCommand).catch((err: unknown) => {
      deps.logger.warn({ err, partition }, 'decided commands could not be deleted');
    });
  }, trimEveryMs);
  trimming.unref();
  owners.set(partition, owner);
  try {
    await owner.own(signal);
  } finally {
    owners.delete(partition);
    clearInterval(trimming);
  }
}

/**
 * Commits the group's position within a second, for displays of its lag. Authoritative is the owner's own note, in the
 * transaction of each decision; committing the position there would cost Kafka two more requests.
 */
function publishPosition(
  { log, logger }: OwnerDeps,
  partition: number,
): { readonly reached: (offset: number) => void } & Disposable {
  let latest = 0;
  let publishedOffset = 0;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  const schedule = (): void => {
    if (isClosed || latest === publishedOffset) return;
    timer ??= setTimeout(() => void publish().finally(schedule), positionEveryMs).unref();
  };
  const publish = async (): Promise<void> => {
    const offset = latest;
    try {
      const positions = [{ topic: commandsTopic, partition, offset }];
      await log.commit({ group: ownersGroup, positions });
      publishedOffset = offset;
    } catch (err) {
      logger.warn({ err, partition }, 'the position of an owner could not be committed yet');
    }
    timer = null;
  };
  return {
    reached: (offset) => {
      latest = offset;
      schedule();
    },
    [Symbol.dispose]: () => {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
    },
  };
}

/** Deletes decided commands that are older than a day. */
async function trim({ log, clock }: OwnerDeps, partition: number, decided: number): Promise<void> {
  const old = await log.offsetAt(commandsTopic, partition, clock.now() - commandsKeptMs);
  const offset = Math.min(old, decided);
  await log.deleteBefore({ topic: commandsTopic, partition, offset });
}

function disposable(store: ControlStateStore): { readonly store: ControlStateStore } & Disposable {
  return { store, [Symbol.dispose]: () => store.close() };
}

const lookEveryMs = 1_000;
/** A smaller difference is the imprecision of timers and the slewing of a synchronized clock. */
const stepMinMs = 500;

/** Calls `stepped` within a second after the clock was set, or the machine was suspended: timers do not notice either. */
function watchClockSteps(clock: Clock, stepped: () => void): Disposable {
  const ahead = (): number => clock.now() - performance.now();
  let before = ahead();
  const timer = setInterval(() => {
    const now = ahead();
    if (Math.abs(now - before) < stepMinMs) return;
    before = now;
    stepped();
  }, lookEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
