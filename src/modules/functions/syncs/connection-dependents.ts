import type { ControlPlane } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import type { ConnectionId, ConnectionUid, EnvironmentUid, IntegrationKey } from '#kernel/ids.ts';
import type { ConnectionDependents } from '#modules/connections/connections/dependents.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { Stream } from '#modules/records/model/stream.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import { checkpointEntity } from '../checkpoints/entity.ts';
import { functionEntity } from '../functions/entity.ts';
import { syncEntity } from './entity.ts';

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
