import type { ExecuteOptions } from '../../../control-plane/control-plane.ts';
import type { Services } from '../../../http/services.ts';
import type {
  ConnectionId,
  ConnectionUid,
  EnvironmentUid,
  IntegrationKey,
} from '../../../kernel/ids.ts';
import type { DeployedFunction } from '../../functions/functions/state.ts';
import type { Stream } from '../../records/stream.ts';
import type { SyncInstance } from '../../functions/syncs/state.ts';
import { connectionRef } from './entity.ts';
import { erasureReceipt } from './erasure.ts';
import type { Connection } from './state.ts';

/**
 * Deletes a connection: its syncs stop, its records and its key are destroyed, then its id is free again. What was
 * erased is told in a receipt on `svc.credentials.v1`.
 * From the first step on it is gone for readers; doing it again finishes what was interrupted.
 * @throws GatewayError `unknown_connection`
 */
export async function deleteConnection(
  { control, vault, records, clock }: Pick<Services, 'control' | 'vault' | 'records' | 'clock'>,
  connection: Connection,
  options: ExecuteOptions,
): Promise<void> {
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const { view } = control;
  const removals = () => [
    ...view.list('sync', ref.path).map((sync) => ({ ref: sync.ref, body: { type: 'Remove' } })),
    ...view.list('checkpoint', ref.path).map((one) => ({ ref: one.ref, body: { type: 'Delete' } })),
  ];

  const streams = streamsOf(control.view, connection);
  await control.askAll([{ ref, body: { type: 'MarkDeleting' } }, ...removals()], options);
  // What was made before the mark, but had not reached this node.
  for (const [name, stream] of streamsOf(control.view, connection)) streams.set(name, stream);
  const closed = await Promise.all(
    [...streams.values()].map(async (stream) => {
      const { model, variant } = stream;
      return { model, variant, ...(await records.writer.close(stream, options.actor)) };
    }),
  );
  const keyGoneAfterMs = await vault.shred(uid);
  const receipt = erasureReceipt(uid, closed, keyGoneAfterMs, clock.now());
  await control.askAll([...removals(), { ref, body: { type: 'Delete', uid, receipt } }], options);
}

/** Every stream that may hold records of the connection: of its syncs, and of deployed ones. */
function streamsOf(view: Services['control']['view'], connection: Connection): Map<string, Stream> {
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
  for (const { state } of view.list<SyncInstance>('sync', path)) add(state.models, state.variant);
  const deployed = view.list<DeployedFunction>('function', [
    environmentUid,
    integrationKey,
    'sync',
  ]);
  for (const { state } of deployed) add(state.models, 'base');
  return streams;
}
