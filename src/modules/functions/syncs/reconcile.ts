import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { type CommandOf, commandTo } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import type { ConnectionDependents } from '#modules/connections/connections/dependents.ts';
import { connectionPathOf } from '#modules/connections/connections/entity.ts';
import {
  connectionsOfIntegration,
  findConnection,
} from '#modules/connections/connections/queries.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import type { ReactorDeps } from '#streams/reactor/reactor.ts';
import { startReactor } from '#streams/reactor/runner.ts';
import type { ConnectionChanged } from '#streams/values.ts';
import { checkpointEntity } from '../checkpoints/entity.ts';
import { functionEntity } from '../functions/entity.ts';
import { parseFrequency } from '../functions/frequency.ts';
import type { DeployedFunction } from '../functions/function.ts';
import { listFunctions } from '../functions/queries.ts';
import { syncRef, syncEntity, type SyncEntity } from './entity.ts';
import type { SyncInstance } from './state.ts';

const topic = 'svc.connections.v1';

/**
 * Creates the syncs of every new connection, also when the node that created it crashed right after.
 * `reconcileSyncInstances` reads the same newest state of the log, so that together they miss no connection.
 */
export async function startSyncInstances(
  deps: ReactorDeps & { readonly control: ControlPlane },
): Promise<AsyncDisposable> {
  return startReactor<ConnectionChanged>(deps, {
    group: 'svc.sync-instances',
    topic,
    async handle(change) {
      if (change.action !== 'created') return;
      await deps.control.view.caughtUp();
      const { environment_id, integration, connection_id } = change;
      const where = [deps.control, environment_id, integration ?? ''] as const;
      const connection = findConnection(...where, connection_id ?? '');
      if (connection === null) return;
      try {
        await createInstancesFor(deps.control, connection, 'system');
      } catch (error) {
        const isGone = error instanceof GatewayError && error.code === 'unknown_connection';
        if (!isGone) throw error;
      }
    },
  });
}

export interface ReconcileDeps {
  readonly control: ControlPlane;
  readonly records: RecordWriter;
}

type InstanceOf = Pick<
  SyncInstance,
  'environmentUid' | 'connectionUid' | 'integrationKey' | 'connectionId' | 'variant'
>;

/** The stream of records of a model of this instance. */
export const streamOf = (instanceOf: InstanceOf, model: string): Stream => ({
  environmentUid: instanceOf.environmentUid as EnvironmentUid,
  connectionUid: instanceOf.connectionUid as ConnectionUid,
  integration: instanceOf.integrationKey as IntegrationKey,
  connectionId: instanceOf.connectionId as ConnectionId,
  model,
  variant: instanceOf.variant,
});

/** Concurrent commands: a deployment may change ten thousand connections. */
const parallelMax = 32;

/**
 * Brings the instances of the integrations' syncs in line with the deployed functions: creates missing ones, updates
 * the version of the others, removes those whose function is gone together with their records. Call it after a
 * deployment of functions; it is idempotent.
 */
export async function reconcileSyncInstances(
  deps: ReconcileDeps,
  environmentUid: string,
  integrationKeys: readonly string[],
  actor: string,
): Promise<void> {
  await deps.control.view.caughtUp();
  for (const integrationKey of integrationKeys) {
    const all = listFunctions(deps.control, environmentUid, { integrationKey });
    const functions = all.filter(({ kind }) => kind === 'sync');
    const connections = connectionsOfIntegration(deps.control, environmentUid, integrationKey);
    const live = connections.filter(({ isDeleting }) => !isDeleting);
    await inParallel(live, async (connection) => {
      await reconcileConnection(deps, connection, functions, actor);
      await dropCheckpoints(deps, connection, all, actor);
    });
  }
}

async function reconcileConnection(
  deps: ReconcileDeps,
  connection: Connection,
  functions: readonly DeployedFunction[],
  actor: string,
): Promise<void> {
  try {
    const models = new Set(functions.flatMap((fn) => fn.models));
    const path = connectionPathOf(connection);
    for (const { state } of deps.control.view.list(syncEntity, path)) {
      const fn = functions.find(({ name }) => name === state.syncName);
      if (fn === undefined) await removeInstance(deps, state, actor, models);
      else await redeploy(deps, state, fn, actor);
    }
    await createInstancesFor(deps.control, connection, actor);
  } catch (error) {
    // Deleted meanwhile, with its syncs.
    if (!isGone(error)) throw error;
  }
}

async function dropCheckpoints(
  { control }: ReconcileDeps,
  connection: Connection,
  functions: readonly DeployedFunction[],
  actor: string,
): Promise<void> {
  for (const { ref } of strayCheckpoints(control, connection, functions)) {
    await control.execute(ref, { type: 'Delete' }, { actor });
  }
}

/** Those of removed functions; that of a webhook function is removed with its sync. */
function strayCheckpoints(
  { view }: Pick<ControlPlane, 'view'>,
  connection: Connection,
  functions: readonly DeployedFunction[],
) {
  const kept = new Set(functions.map(({ kind, name }) => `${kind}/${name}`));
  return view
    .list(checkpointEntity, connectionPathOf(connection))
    .filter(({ state: { kind, functionName } }) => {
      return !kept.has(`${kind === 'webhook' ? 'sync' : kind}/${functionName}`);
    });
}

/**
 * Creates the instance of every sync of the integration for a connection; the started ones run at once. Existing
 * instances do not change.
 */
export async function createInstancesFor(
  control: ControlPlane,
  connection: Connection,
  actor: string,
): Promise<void> {
  for (const fn of missingSyncs(control, connection)) {
    await createInstance(control, { connection, fn, variant: 'base' }, actor);
  }
}

/** Deployed syncs without an instance for the connection. */
function missingSyncs(control: ControlPlane, connection: Connection): DeployedFunction[] {
  const path = connectionPathOf(connection);
  const { environmentUid, integrationKey, uid } = connection;
  return listFunctions(control, environmentUid, { integrationKey, kind: 'sync' }).filter(
    ({ name }) => control.view.find(syncRef(path, name, 'base'))?.connectionUid !== uid,
  );
}

/** Whether `reconcileSyncInstances` would change nothing. */
export function areSyncsCurrent(
  control: ControlPlane,
  environmentUid: string,
  integrationKey: string,
): boolean {
  const all = listFunctions(control, environmentUid, { integrationKey });
  const connections = connectionsOfIntegration(control, environmentUid, integrationKey);
  return connections
    .filter(({ isDeleting }) => !isDeleting)
    .every((connection) => {
      const instances = control.view.list(syncEntity, connectionPathOf(connection));
      const areDeployed = instances.every(({ state }) => {
        const fn = all.find(({ kind, name }) => kind === 'sync' && name === state.syncName);
        return fn !== undefined && isDeployed(state, fn);
      });
      return (
        areDeployed &&
        missingSyncs(control, connection).length === 0 &&
        strayCheckpoints(control, connection, all).length === 0
      );
    });
}

/** Whether the instance runs by the function as it is deployed. */
const isDeployed = (instance: SyncInstance, fn: DeployedFunction): boolean =>
  instance.frequencyMs === frequencyOf(fn) &&
  instance.functionVersion === fn.version &&
  instance.models.join() === fn.models.join();

/** @throws GatewayError `unknown_connection` when the connection is deleted or being deleted */
export async function createInstance(
  control: ControlPlane,
  instance: {
    readonly connection: Connection;
    readonly fn: DeployedFunction;
    readonly variant: string;
    /** A variant created by request starts regardless of `auto_start`. */
    readonly autoStart?: boolean;
  },
  actor: string,
): Promise<SyncInstance> {
  const { connection, fn, variant, autoStart = fn.autoStart } = instance;
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const body: CommandOf<SyncEntity> = {
    type: 'Create',
    id: randomUUID(),
    environmentUid,
    integrationKey,
    connectionId,
    connectionUid: uid,
    syncName: fn.name,
    variant,
    models: fn.models,
    functionVersion: fn.version,
    frequencyMs: frequencyOf(fn),
    autoStart,
    runId: randomUUID(),
  };
  const ref = syncRef(connectionPathOf(connection), fn.name, variant);
  const made = await control.execute(ref, body, { actor });
  if (made === null) throw new GatewayError('unknown_connection');
  return made;
}

/** Removes the instance, then its records; `keptModels` are still written by another sync. */
export async function removeInstance(
  deps: ReconcileDeps,
  instance: SyncInstance,
  actor: string,
  keptModels: ReadonlySet<string> = new Set(),
): Promise<void> {
  const ref = syncRef(connectionPathOf(instance), instance.syncName, instance.variant);
  await deps.control.execute(ref, { type: 'Remove' }, { actor });
  for (const model of instance.models) {
    if (!keptModels.has(model)) await deps.records.empty(streamOf(instance, model), actor);
  }
}

async function redeploy(
  { control, records }: ReconcileDeps,
  instance: SyncInstance,
  fn: DeployedFunction,
  actor: string,
): Promise<void> {
  if (isDeployed(instance, fn)) return;
  const frequencyMs = frequencyOf(fn);
  const dropped = instance.models.filter((model) => !fn.models.includes(model));
  const ref = syncRef(connectionPathOf(instance), instance.syncName, instance.variant);
  const body: CommandOf<SyncEntity> = {
    type: 'Redeploy',
    models: fn.models,
    functionVersion: fn.version,
    frequencyMs,
  };
  await control.execute(ref, body, { actor });
  for (const model of dropped) await records.empty(streamOf(instance, model), actor);
}

const isGone = (error: unknown): boolean =>
  error instanceof GatewayError &&
  (error.code === 'unknown_connection' || error.code === 'unknown_sync');

/** The frequency is checked at deployment; functions without one get an hour, the most common one. */
const frequencyOf = (fn: DeployedFunction): number => parseFrequency(fn.frequency ?? 'every hour');

async function inParallel<T>(items: readonly T[], task: (item: T) => Promise<void>): Promise<void> {
  const queue = items.values();
  const worker = async (): Promise<void> => {
    for (const item of queue) await task(item);
  };
  await Promise.all(Array.from({ length: Math.min(parallelMax, items.length) }, worker));
}

/** Syncs, checkpoints and records of a connection. */
export function syncsOfConnections(
  control: Pick<ControlPlane, 'view'>,
  writer: Pick<RecordWriter, 'close'>,
): ConnectionDependents {
  const { view } = control;
  return {
    removalOf(connection) {
      const { environmentUid, integrationKey, connectionId } = connection;
      const path = [environmentUid, integrationKey, connectionId];
      const streams = streamsOf(view, connection);
      return {
        commands: () => [
          ...view.list(syncEntity, path).map(({ ref }) => commandTo(ref, { type: 'Remove' })),
          ...view.list(checkpointEntity, path).map(({ ref }) => commandTo(ref, { type: 'Delete' })),
        ],
        async eraseRecords(actor) {
          // Instances created before the mark that had not reached this node.
          for (const [name, stream] of streamsOf(view, connection)) streams.set(name, stream);
          return Promise.all(
            [...streams.values()].map(async (stream) => {
              const { plain, sealed, pruned } = await writer.close(stream, actor);
              return { model: stream.model, variant: stream.variant, plain, sealed, pruned };
            }),
          );
        },
      };
    },
  };
}

/** Every stream that may have records of the connection: of its syncs, and of deployed ones. */
function streamsOf(view: ControlPlane['view'], connection: Connection): Map<string, Stream> {
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const streams = new Map<string, Stream>();
  const add = (models: readonly string[], variant: string): void => {
    for (const model of models) {
      streams.set(`${model}/${variant}`, {
        environmentUid: environmentUid as EnvironmentUid,
        connectionUid: uid as ConnectionUid,
        integration: integrationKey as IntegrationKey,
        connectionId: connectionId as ConnectionId,
        model,
        variant,
      });
    }
  };
  const path = [environmentUid, integrationKey, connectionId];
  for (const { state } of view.list(syncEntity, path)) add(state.models, state.variant);
  const deployed = view.list(functionEntity, [environmentUid, integrationKey, 'sync']);
  for (const { state } of deployed) add(state.models, 'base');
  return streams;
}
