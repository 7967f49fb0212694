import { firstMessage } from '#control-plane/consume.ts';
import type { ProcessPorts } from '#control-plane/ports.ts';
import type { Clock } from '#kernel/time.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import { runQueueEntity } from '#modules/functions/run-queues/entity.ts';
import type { ReleaseSettings } from '#modules/functions/services.ts';
import type { PartitionSettings } from '#modules/records/services.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Gauges, LabelValues } from '#ports/metrics.ts';
import { consumerGroup } from '#streams/consumer-groups.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { listGroups, type GroupFacts } from '../consumer-groups/handlers.ts';
import type { DeadLetters } from '../dead-letters/view.ts';
import type { ProjectionFigures } from '../projections/figures.ts';
import { listProjections } from '../projections/handlers.ts';

interface Deps extends ProcessPorts, EntityQueries {
  readonly log: EventLog;
  readonly settings: PartitionSettings & ReleaseSettings;
  readonly projections: readonly ProjectionTables[];
  readonly deadLetters: DeadLetters;
}
interface Value {
  readonly labels: LabelValues;
  readonly value: number;
}

const deadLettersMax = 10_000;

/** Collects the figures of the log, the tables and the views. An unavailable figure is omitted and logged. */
export async function collect(deps: Deps, gauges: Gauges): Promise<void> {
  gauges.replace('svc_build_info', [{ labels: [deps.settings.version], value: 1 }]);
  const tasks = [collectProjections, collectGroups, collectHeldRuns, collectDeadLetters];
  for (const task of tasks) {
    await task(deps, gauges).catch((err: unknown) => {
      deps.logger.warn({ err }, 'some metrics could not be collected');
    });
  }
}

async function collectProjections(deps: Deps, gauges: Gauges): Promise<void> {
  const progress: Value[] = [];
  const figures = await listProjections(deps);
  for (const { of: projectionTables, generations } of figures) {
    for (const { generation, partitions } of generations) {
      if (generation.state === 'building') {
        const done = partitions.reduce((sum, { start, position }) => sum + position - start, 0);
        const all = partitions.reduce((sum, { start, end }) => sum + end - start, 0);
        progress.push({ labels: [projectionTables.name], value: all === 0 ? 1 : done / all });
      }
    }
  }
  const lags = await lagsOf(deps, figures);
  const by = (figure: 'events' | 'seconds') =>
    lags.map(({ projection, partition, ...lag }): Value => {
      return { labels: [projection, partition], value: lag[figure] };
    });
  gauges.replace('svc_projection_lag_events', by('events'));
  gauges.replace('svc_projection_lag_seconds', by('seconds'));
  gauges.replace('svc_projection_rebuild_progress_ratio', progress);
}

interface ProjectionLag {
  readonly projection: string;
  readonly partition: number;
  /** Offsets of the topic that are not yet in the active tables. */
  readonly events: number;
  /** Age of the oldest of them. */
  readonly seconds: number;
}

interface LagDeps extends EntityQueries {
  readonly log: EventLog;
  readonly settings: PartitionSettings;
  readonly projections: readonly ProjectionTables[];
  readonly clock: Clock;
}

/** How far the active tables of each projection are behind. @throws GatewayError `projection_unavailable`, `log_unavailable` */
export const projectionLags = async (deps: LagDeps): Promise<readonly ProjectionLag[]> =>
  lagsOf(deps, await listProjections(deps));

async function lagsOf(
  deps: LagDeps,
  figures: readonly ProjectionFigures[],
): Promise<ProjectionLag[]> {
  const lags: ProjectionLag[] = [];
  for (const { of: projectionTables, projection, generations } of figures) {
    const active = generations.find(({ generation }) => generation.number === projection.active);
    const { name, topic } = projectionTables;
    for (const { partition, position, end } of active?.partitions ?? []) {
      const seconds = await ageOf(deps, { topic, partition, offset: position, end });
      lags.push({ projection: name, partition, events: end - position, seconds });
    }
  }
  return lags;
}

async function collectGroups(deps: Deps, gauges: Gauges): Promise<void> {
  const groups = await listGroups(deps);
  const lags = groups.flatMap(({ name, positions }) =>
    positions.map(({ partition, lag }): Value => {
      return { labels: [name, consumerGroup(name).topic, partition], value: lag };
    }),
  );
  gauges.replace('kafka_consumergroup_lag', lags);
  const oldest = (name: string) => oldestUntaken(deps, groups, name);
  gauges.replace('svc_run_queue_age_seconds', [{ labels: [], value: await oldest('svc.runners') }]);
  gauges.replace('svc_webhook_oldest_pending_seconds', [
    { labels: [], value: await oldest('svc.webhook-deliveries') },
  ]);
}

async function oldestUntaken(
  deps: Deps,
  groups: readonly GroupFacts[],
  wanted: string,
): Promise<number> {
  const group = groups.find(({ name }) => name === wanted);
  if (group === undefined) return 0;
  const { topic } = consumerGroup(group.name);
  const ages = group.positions.map(({ partition, start, committed, end }) =>
    ageOf(deps, { topic, partition, offset: Math.max(start, committed ?? start), end }),
  );
  return Math.max(0, ...(await Promise.all(ages)));
}

interface UnreadRange {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
  readonly end: number;
}

/** Seconds since the first message from the offset on was written; 0 where there is none. */
async function ageOf(
  { log, clock }: { readonly log: Pick<EventLog, 'read'>; readonly clock: Deps['clock'] },
  { topic, partition, offset, end }: UnreadRange,
): Promise<number> {
  if (offset >= end) return 0;
  const first = await firstMessage(log, { topic, partition, offset });
  return first === null ? 0 : Math.max(0, (clock.now() - first.timestamp) / 1000);
}

function collectHeldRuns({ control }: Deps, gauges: Gauges): Promise<void> {
  const queues = control.view.list(runQueueEntity, []);
  const value = queues.reduce((total, { state }) => total + state.waiting.length, 0);
  gauges.replace('svc_runs_held', [{ labels: [], value }]);
  return Promise.resolve();
}

function collectDeadLetters({ deadLetters }: Deps, gauges: Gauges): Promise<void> {
  const counts = new Map<string, number>();
  for (const { consumer } of deadLetters.tables.list({ state: 'parked', limit: deadLettersMax })) {
    counts.set(consumer, (counts.get(consumer) ?? 0) + 1);
  }
  gauges.replace(
    'svc_dead_letters_total',
    [...counts].map(([consumer, value]) => ({ labels: [consumer], value })),
  );
  return Promise.resolve();
}
