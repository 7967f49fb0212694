import { LRUCache } from 'lru-cache';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import {
  connectionsOfIntegration,
  requireConnection,
} from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { changesEnd, type ReadableRuns } from '#modules/records/read/readable.ts';
import type { DeclaredModels, ModelNames, RecordAccess } from '#modules/records/services.ts';
import { functionEntity } from '../functions/entity.ts';
import { listFunctions } from '../functions/queries.ts';
import { syncEntity } from './entity.ts';
import { presentStatus } from './presenter.ts';
import { createInstancesFor, streamOf } from './reconcile.ts';
import type { LastRun, SyncInstance } from './state.ts';

const integrationsMax = 1000;

/**
 * The models of deployed functions. Kept in memory until a function of the integration changes: the view would parse the
 * code of all of them, and clients poll for records long before the first run.
 */
export function createDeclaredModels(control: ControlPlane): DeclaredModels & Disposable {
  const kept = new LRUCache<string, ModelNames>({ max: integrationsMax });
  const stop = control.view.onChange([functionEntity], (changed) => {
    for (const { path } of changed) kept.delete(joinKey(...path.slice(0, 2)));
  });
  return {
    find(environmentUid, integrationKey) {
      const key = joinKey(environmentUid, integrationKey);
      const existing = kept.get(key);
      if (existing !== undefined) return existing;
      const functions = listFunctions(control, environmentUid, { integrationKey });
      const syncs = functions.filter(({ kind }) => kind === 'sync');
      const names = {
        all: new Set(functions.flatMap(({ models }) => models)),
        synced: [...new Set(syncs.flatMap(({ models }) => models))].sort(),
      };
      kept.set(key, names);
      return names;
    },
    variantsOf(stream) {
      const path = connectionPathOf({ ...stream, integrationKey: stream.integration });
      const instances = control.view.list(syncEntity, path);
      return [...new Set(instances.map(({ state }) => state.variant))];
    },
    [Symbol.dispose]: stop,
  };
}

/** A sync as requests name it. */
export interface SyncName {
  readonly name: string;
  readonly variant: string;
}

/** Selection of instances in a request. */
export interface SyncSelection {
  readonly environmentUid: string;
  readonly integrationKey: string;
  /** Absent: every connection of the integration. */
  readonly connectionId: string | undefined;
  /** Empty: all syncs of a connection. */
  readonly syncs: readonly SyncName[];
  readonly actor: string;
}

/** The instances of one connection. */
export interface SelectedInstances {
  readonly connection: Connection;
  readonly instances: readonly SyncInstance[];
}

/**
 * The selected instances by connection. Missing instances of a named connection are created first: the connection may
 * just have been created.
 * @throws GatewayError `unknown_provider_config` (400), `unknown_connection` (404), `no_syncs_found`
 */
export async function selectSyncs(
  control: ControlPlane,
  wanted: SyncSelection,
): Promise<SelectedInstances[]> {
  const { environmentUid, integrationKey, connectionId, actor } = wanted;
  const where = [control, environmentUid, integrationKey] as const;
  await requireIntegration(...where, { code: 'unknown_provider_config', status: 400 });
  if (connectionId !== undefined) {
    const connection = await requireConnection(...where, connectionId);
    await createInstancesFor(control, connection, actor);
    return [selectOf(control, connection, wanted.syncs, true)];
  }
  await control.view.caughtUp();
  const live = connectionsOfIntegration(...where).filter(({ isDeleting }) => !isDeleting);
  const selected = live.map((connection) => selectOf(control, connection, wanted.syncs, false));
  const found = selected.filter(({ instances }) => instances.length > 0);
  if (found.length === 0 && (live.length > 0 || wanted.syncs.length > 0)) {
    throw noSyncs(wanted.syncs, integrationKey);
  }
  return found;
}

/** @param isStrict every named sync must exist */
function selectOf(
  { view }: ControlPlane,
  connection: Connection,
  syncs: readonly SyncName[],
  isStrict: boolean,
): SelectedInstances {
  const path = connectionPathOf(connection);
  const all = view.list(syncEntity, path).map(({ state }) => state);
  if (syncs.length === 0) {
    if (all.length === 0 && isStrict) throw noSyncs(syncs, connection.integrationKey);
    return { connection, instances: all };
  }
  const missing = syncs.filter((sync) => !all.some((instance) => isNamed(instance, sync)));
  if (missing.length > 0 && isStrict) throw noSyncs(missing, connection.integrationKey);
  return { connection, instances: all.filter((one) => syncs.some((sync) => isNamed(one, sync))) };
}

const isNamed = (instance: SyncInstance, { name, variant }: SyncName): boolean =>
  instance.syncName === name && instance.variant === variant;

function noSyncs(missing: readonly SyncName[], integrationKey: string): GatewayError {
  const names = missing.map(({ name, variant }) =>
    variant === 'base' ? name : `${name}::${variant}`,
  );
  const message =
    names.length === 0
      ? `No sync is deployed for the integration "${integrationKey}".`
      : `The integration "${integrationKey}" has no sync ${names.map((name) => `"${name}"`).join(', ')}.`;
  return new GatewayError('no_syncs_found', { message });
}

/**
 * @throws GatewayError `unknown_provider_config` (400), `unknown_connection` (400), `unknown_sync`
 */
export async function requireSync(
  control: ControlPlane,
  wanted: Omit<SyncSelection, 'syncs'> & { readonly connectionId: string; readonly sync: SyncName },
): Promise<{ readonly connection: Connection; readonly instance: SyncInstance }> {
  const { environmentUid, integrationKey, connectionId, sync, actor } = wanted;
  const connection = await requireConnection(
    control,
    environmentUid,
    integrationKey,
    connectionId,
    {
      status: 400,
    },
  );
  await createInstancesFor(control, connection, actor);
  const [instance] = selectOf(control, connection, [sync], false).instances;
  if (instance === undefined) {
    const { message } = noSyncs([sync], integrationKey);
    throw new GatewayError('unknown_sync', { message });
  }
  return { connection, instance };
}

/**
 * The rows of `GET /sync/status` (docs/reference/http.md#syncs).
 * @param showsConnection false leaves out the connection of each row
 */
export async function presentSyncs(
  {
    records,
    readableRuns,
  }: { readonly records: RecordAccess; readonly readableRuns: ReadableRuns },
  instances: readonly SyncInstance[],
  showsConnection: boolean,
): Promise<ReturnType<typeof presentStatus>[]> {
  const ends = instances.map(({ last, models }) =>
    last === null ? noChanges : endOf(last, models),
  );
  const found = await readableRuns.soon(ends);
  return Promise.all(
    instances.map(async (instance, at) => {
      const { models } = instance;
      const counted = await records.reader.counts(models.map((model) => streamOf(instance, model)));
      return presentStatus({
        ...instance,
        showsConnection,
        recordsReadable: found[at] ?? null,
        counted: Object.fromEntries(models.map((model) => [model, counted.get(model) ?? 0])),
      });
    }),
  );
}

const noChanges = { places: [] } as const;

const endOf = ({ status, positions }: LastRun, models: readonly string[]) =>
  positions === undefined ? null : changesEnd({ status, models, positions });
