import { randomUUID } from 'node:crypto';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import type { PartitionSettings } from '#modules/records/services.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { untouched, type Projection } from '#streams/projector/projection-state.ts';
import { partitionsOf, topics } from '#streams/topics.ts';
import { allCustomTables } from '../custom-projections/queries.ts';
import { projectionRef, type ProjectionEntity } from './entity.ts';
import { figuresOf, type ProjectionFigures } from './figures.ts';

interface Deps extends EntityQueries {
  readonly log: EventLog;
  readonly settings: PartitionSettings;
  readonly projections: readonly ProjectionTables[];
}

/** @throws GatewayError `projection_unavailable`, `log_unavailable` */
export async function listProjections(deps: Deps): Promise<ProjectionFigures[]> {
  await deps.control.view.caughtUp();
  return Promise.all(
    allTables(deps).map((projectionTables) =>
      figuresOf(deps, projectionTables, stateOf(deps, projectionTables.name)),
    ),
  );
}

/** @throws GatewayError `not_found`, `projection_unavailable`, `log_unavailable` */
export async function findProjection(deps: Deps, name: string): Promise<ProjectionFigures> {
  await deps.control.view.caughtUp();
  const projectionTables = tablesOf(deps, name);
  return figuresOf(deps, projectionTables, stateOf(deps, name));
}

/**
 * Starts to build the next generation beside the active one.
 * @throws GatewayError `not_found`, `conflict`: there is another one beside it
 */
export async function rebuildProjection(
  deps: Deps,
  name: string,
  { pacePercent }: { readonly pacePercent: number },
  options: ExecuteOptions,
): Promise<ProjectionFigures> {
  const { schemaVersion, topic } = tablesOf(deps, name);
  const partitions = partitionsOf(topics[topic], deps.settings.partitions);
  return executeOn(
    deps,
    { type: 'Rebuild', name, schemaVersion, partitions, pacePercent },
    options,
  );
}

/**
 * Starts to compare the other generation with the active one.
 * @throws GatewayError `not_found`, `conflict`
 */
export async function verifyProjection(
  deps: Deps,
  name: string,
  options: ExecuteOptions,
): Promise<ProjectionFigures> {
  return executeOn(deps, { type: 'Verify', name, id: randomUUID() }, options);
}

/** Operator requests for a projection other than rebuild and compare. */
export type ProjectionOrder =
  | { readonly type: 'Switch'; readonly isForced: boolean }
  | { readonly type: 'RollBack' }
  | { readonly type: 'Pause' | 'Resume'; readonly generation: number | null }
  | { readonly type: 'Retire'; readonly generation: number };

/** @throws GatewayError `not_found`, `conflict`: its present state does not allow it */
export async function orderProjection(
  deps: Deps,
  name: string,
  order: ProjectionOrder,
  options: ExecuteOptions,
): Promise<ProjectionFigures> {
  return executeOn(deps, { ...order, name }, options);
}

async function executeOn(
  deps: Deps,
  command: CommandOf<ProjectionEntity>,
  options: ExecuteOptions,
): Promise<ProjectionFigures> {
  const { name } = command;
  tablesOf(deps, name);
  await deps.control.execute(projectionRef(name), command, options);
  return figuresOf(deps, tablesOf(deps, name), stateOf(deps, name));
}

const stateOf = ({ control }: Deps, name: string): Projection =>
  control.view.find(projectionRef(name)) ?? untouched(name);

/** Those of the service, and those that projects have deployed. */
const allTables = ({ projections, control }: Deps): readonly ProjectionTables[] => [
  ...projections,
  ...allCustomTables(control.view),
];

function tablesOf(deps: Deps, name: string): ProjectionTables {
  const projections = allTables(deps);
  const found = projections.find((existing) => existing.name === name);
  if (found !== undefined) return found;
  const names = projections.map((projection) => projection.name).join(', ');
  throw new GatewayError('not_found', {
    message: `The projection "${name}" does not exist; the projections are ${names}.`,
  });
}
