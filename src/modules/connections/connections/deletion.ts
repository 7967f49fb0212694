import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import type { ConnectionsServices } from '../services.ts';
import { connectionRef } from './entity.ts';
import { erasureReceipt } from './erasure.ts';
import type { Connection } from './state.ts';

export type DeletionDeps = Pick<
  ConnectionsServices,
  'control' | 'vault' | 'clock' | 'connectionDependents'
>;

/**
 * Deletes a connection: its syncs stop, its records and its key are destroyed, then its id is free again. A receipt on
 * `svc.credentials.v1` lists the erased data. Readers do not see it from the first step; a repetition finishes an
 * interrupted deletion.
 * @throws GatewayError `unknown_connection`
 */
export async function deleteConnection(
  { control, vault, clock, connectionDependents }: DeletionDeps,
  connection: Connection,
  options: ExecuteOptions,
): Promise<void> {
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const removal = connectionDependents.removalOf(connection);
  await control.askAll([commandTo(ref, { type: 'MarkDeleting' }), ...removal.commands()], options);
  const erased = await removal.eraseRecords(options.actor);
  const keyGoneAfterMs = await vault.shred(uid);
  const receipt = erasureReceipt(uid, erased, keyGoneAfterMs, clock.now());
  await control.askAll(
    [...removal.commands(), commandTo(ref, { type: 'Delete', uid, receipt })],
    options,
  );
}
