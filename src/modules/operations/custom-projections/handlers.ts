import { randomUUID } from 'node:crypto';
import type { ControlPlane, ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo, type CommandRequest } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EnvironmentDependents } from '#modules/access/environments/dependents.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { EntityQueries } from '#modules/access/services.ts';
import type { PartitionSettings } from '#modules/records/services.ts';
import { withoutSourceMap } from '#rules/inline-source-map.ts';
import {
  columnsOf,
  projectionHash,
  projectionNameProblem,
  type DeployedDefinition,
} from '#rules/projection-columns.ts';
import { projectionRef } from '../projections/entity.ts';
import type { CustomProjection, ProjectionVersion } from './custom-projection.ts';
import { customProjectionRef } from './entity.ts';
import { existingProjections, heldBackOf, listCustomProjections } from './queries.ts';

/** Shares of the time. Callers wait for the first tables; a replacement leaves them the machine. */
const firstPacePercent = 100;
const replacementPacePercent = 75;

interface Deps extends EntityQueries {
  readonly control: ControlPlane;
  readonly settings: PartitionSettings;
}

/**
 * Deploys it: the first version fills its table from the log, and is read meanwhile; a changed one is built beside the
 * tables that are read, which it replaces when it has caught up, unless it fails for changes that they have rows of.
 * @throws GatewayError `invalid_body` (the row makes no table), `conflict` (sealed payloads, another deployment)
 */
export async function deployProjection(
  { control, settings }: Deps,
  environmentUid: string,
  definition: DeployedDefinition,
  options: ExecuteOptions,
): Promise<CustomProjection> {
  const { name, version: label, description, models, integrations, key } = definition;
  const { source } = definition;
  const bundle = withoutSourceMap(definition.bundle);
  const nameProblem = projectionNameProblem(name);
  if (nameProblem !== null) {
    const message = `"${name}" cannot be the name of a projection: ${nameProblem}.`;
    throw new GatewayError('invalid_body', { message });
  }
  const { columns, problems } = columnsOf({ ...definition, hasMap: true });
  const [problem] = problems;
  if (problem !== undefined) {
    const message = `The projection "${name}" cannot be a table. ${problem.message}.`;
    const errors = problems.map(({ at, message: one }) => ({
      code: 'custom',
      message: one,
      path: [at],
    }));
    throw new GatewayError('invalid_body', { message, errors });
  }
  await control.view.caughtUp();
  const environment = control.view.find(environmentRef(environmentUid));
  if (environment === null) throw new GatewayError('unknown_environment');
  if (environment.payloadMode === 'sealed') throw sealedConflict(environment.name);
  const contentHash = projectionHash({ ...definition, bundle });
  const ref = customProjectionRef(environmentUid, name);
  const before = control.view.find(ref);
  if (before?.contentHash === contentHash) return before;
  const version: ProjectionVersion = { label, bundle, models, integrations, columns, key };
  const number = (before?.latest ?? 0) + 1;
  const projection = before?.projection ?? `${environment.name}.${name}`;
  const parts = {
    ...{ uid: before?.uid ?? randomUUID(), environmentUid, name, projection },
    ...{ description, source, contentHash },
  };
  const build = {
    name: projection,
    schemaVersion: number,
    partitions: settings.partitions,
    pacePercent: before === null ? firstPacePercent : replacementPacePercent,
  };
  const deployment = commandTo(ref, { type: 'Deploy', number, version, parts });
  // Read in this order: the first generation is known before its definition starts it, a further one has its version.
  const commands: CommandRequest[] =
    before === null
      ? [commandTo(projectionRef(projection), { type: 'Begin', ...build }), deployment]
      : [deployment, commandTo(projectionRef(projection), { type: 'Replace', ...build })];
  await control.askAll(commands, options);
  const deployed = control.view.find(ref);
  if (deployed === null) throw new GatewayError('server_error');
  return deployed;
}

/**
 * Its tables and positions are dropped by the processes that project.
 * @throws GatewayError `not_found`
 */
export async function deleteProjection(
  { control }: Pick<Deps, 'control'>,
  environmentUid: string,
  name: string,
  options: ExecuteOptions,
): Promise<void> {
  const ref = customProjectionRef(environmentUid, name);
  if (control.view.find(ref) === null) await control.view.caughtUp();
  const existing = control.view.find(ref);
  if (existing === null) {
    const message = `The projection "${name}" is not deployed in this environment.`;
    throw new GatewayError('not_found', { message });
  }
  await control.askAll(deletion(existing), options);
}

const deletion = ({ environmentUid, name, projection }: CustomProjection): CommandRequest[] => [
  commandTo(customProjectionRef(environmentUid, name), { type: 'Delete' }),
  commandTo(projectionRef(projection), { type: 'Forget', name: projection }),
];

/** Their names contain that of the environment, and their rows are plain text. */
export const customProjectionsOfEnvironments = (control: ControlPlane): EnvironmentDependents => ({
  refuseChange(environmentUid, { isRenamed, isSealed }) {
    if (!isRenamed && !isSealed) return;
    const [first] = listCustomProjections(control.view, environmentUid);
    if (first === undefined) return;
    const what = isRenamed ? 'keeps its name' : 'keeps its payloads in clear';
    const message = `An environment with projections of a project ${what}: delete "${first.name}" first.`;
    throw new GatewayError('conflict', { message });
  },
  async remove(environmentUid, options) {
    const all = listCustomProjections(control.view, environmentUid);
    if (all.length > 0) await control.askAll(all.flatMap(deletion), options);
  },
});

const sealedConflict = (name: string): GatewayError =>
  new GatewayError('conflict', {
    message:
      `The environment "${name}" seals its payloads, and the rows of a projection would keep them in clear, also after the ` +
      'key of a connection is destroyed. Deploy the projection to an environment whose payload_mode is plain, or read the records with GET /records.',
  });

/** A record whose change could not be mapped. */
export interface FailedRecord {
  readonly integration: string;
  readonly connection_id: string;
  readonly model: string;
  readonly variant: string;
  readonly record_id: string;
  readonly error: string;
}

/** Failed records of the table that is read, or of one that is held back by them. */
export interface ProjectionFailures {
  readonly count: number;
  readonly examples: readonly FailedRecord[];
}

const examplesMax = 20;

/** By name; absent while there is no table yet. @throws GatewayError `projection_unavailable` */
export async function failuresOf(
  { control, tables }: EntityQueries,
  environmentUid: string,
): Promise<ReadonlyMap<string, ProjectionFailures>> {
  const found = new Map<string, ProjectionFailures>();
  const all = await existingProjections(
    { view: control.view, tables },
    environmentUid,
    (projection) => heldBackOf(projection)?.number ?? projection.active,
  );
  for (const { name, table } of all) {
    const rows = await tables.queryRows<FailedRecord & { total: string }>(
      `SELECT _integration AS integration, _connection_id AS connection_id, _model AS model, _variant AS variant,
         _record_id AS record_id, _error AS error, count() OVER () AS total
       FROM ${table} FINAL WHERE _error != '' ORDER BY _modified_at DESC, _record_id LIMIT ${examplesMax}`,
      {},
      'page',
    );
    const examples = rows.map(({ total: _total, ...record }) => record);
    found.set(name, { count: Number(rows[0]?.total ?? 0), examples });
  }
  return found;
}
