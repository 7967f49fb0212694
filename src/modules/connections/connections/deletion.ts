import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo, type CommandRequest } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { dayMs, isoMillis, type Instant } from '#kernel/time.ts';
import { keysTopic } from '#modules/access/vault/key-log.ts';
import { revocationRef } from '../revocations/entity.ts';
import { revocationOrder, type OrderDeps } from '../revocations/order.ts';
import { revocationMaxMs, type RevocationOrder } from '../revocations/revocation.ts';
import type { ConnectionDependents } from './dependents.ts';
import { connectionRef } from './entity.ts';
import type { ErasedStream, ErasureReceipt } from './events.ts';
import type { Connection } from './state.ts';

/** The largest lag of compaction of `svc.records.v1`, and a day until its segment is rolled. */
const recordsGoneAfterMs = 30 * dayMs;
/** Retention of `svc.logs.v1`, and a day for its segment. */
const logsGoneAfterMs = 16 * dayMs;
/** Decided commands are deleted when they are a day old, looked for each hour. */
const commandsGoneAfterMs = dayMs + 3_600_000;

function erasureReceipt(
  connectionUid: string,
  streams: readonly ErasedStream[],
  {
    keyGoneAfterMs,
    isRevoked,
    at,
  }: {
    /** How long the wrapped data key may remain in the files of the log; 0 = it is unrecoverable. */
    readonly keyGoneAfterMs: number;
    /** Whether a copy of the token is kept until the provider has been asked to end it. */
    readonly isRevoked: boolean;
    readonly at: Instant;
  },
): ErasureReceipt {
  const by = (afterMs: number): string => isoMillis(at + afterMs);
  const sealed = ['credentials', 'metadata', 'connection_config', 'sealed payloads'];
  const key = {
    topic: keysTopic,
    what: `the wrapped data key of ${sealed.join(', ')}, which no node uses any more`,
    gone_by: by(keyGoneAfterMs),
  };
  return {
    connection_uid: connectionUid,
    erased_at: isoMillis(at),
    unreadable_at_once: keyGoneAfterMs === 0 ? sealed : [],
    gone_later: [
      ...(keyGoneAfterMs === 0 ? [] : [key]),
      ...(isRevoked ? [revokedToken(by(revocationMaxMs + keyGoneAfterMs))] : []),
      {
        topic: 'svc.records.v1',
        what: 'plain payloads, also of earlier versions, and the ids of records',
        gone_by: by(recordsGoneAfterMs),
      },
      {
        topic: 'svc.internal.record-commands.v1',
        what: 'plain payloads that were saved within the last day',
        gone_by: by(commandsGoneAfterMs),
      },
      {
        topic: 'svc.logs.v1',
        what: 'what functions wrote into the log themselves',
        gone_by: by(logsGoneAfterMs),
      },
    ],
    records: streams,
  };
}

const revokedToken = (gone_by: string): ErasureReceipt['gone_later'][number] => ({
  topic: keysTopic,
  what: 'the wrapped data key of the call that revokes the access at the provider, with its token',
  gone_by,
});

export interface DeletionDeps extends OrderDeps {
  readonly connectionDependents: ConnectionDependents;
}

/**
 * Deletes a connection: its syncs stop, its records and its key are destroyed, then its id is free again. A receipt on
 * `svc.credentials.v1` lists the erased data. Readers do not see it from the first step; a repetition finishes an
 * interrupted deletion. Where the integration asks for it, the access is revoked at the provider afterwards.
 * @throws GatewayError `unknown_connection`
 */
export async function deleteConnection(
  deps: DeletionDeps,
  connection: Connection,
  options: ExecuteOptions,
): Promise<void> {
  const { control, vault, clock, connectionDependents } = deps;
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const ref = connectionRef(environmentUid, integrationKey, connectionId);
  const removal = connectionDependents.removalOf(connection);
  const order = await revocationOrder(deps, connection);
  await beginDeletion(deps, order, [ref, removal.commands()], options);
  const erased = await removal.eraseRecords(options.actor);
  const keyGoneAfterMs = await vault.shred(uid);
  const revocation = revocationRef({ ...connection, connectionUid: uid });
  const isRevoked = order !== null || control.view.find(revocation) !== null;
  const receipt = erasureReceipt(uid, erased, { keyGoneAfterMs, isRevoked, at: clock.now() });
  await control.askAll(
    [...removal.commands(), commandTo(ref, { type: 'Delete', uid, receipt })],
    options,
  );
}

/** Marks the connection and orders the revocation in one decision. */
async function beginDeletion(
  { control, vault }: DeletionDeps,
  order: RevocationOrder | null,
  [ref, removals]: readonly [ReturnType<typeof connectionRef>, readonly CommandRequest[]],
  options: ExecuteOptions,
): Promise<void> {
  const mark = commandTo(ref, { type: 'MarkDeleting' });
  if (order === null) {
    await control.askAll([mark, ...removals], options);
    return;
  }
  const request = commandTo(revocationRef(order), { type: 'Request', order });
  try {
    const [revocation] = await control.askAll([request, mark, ...removals], options);
    // Another request deletes the connection, and its order came first; or this one has ended already.
    if (revocation?.uid !== order.uid) await vault.shred(order.uid);
  } catch (error) {
    if (isRefusal(error)) await vault.shred(order.uid);
    throw error;
  }
}

/** Whether it is certain that the command had no effect. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof GatewayError)) return false;
  return error.code !== 'log_unavailable' && error.code !== 'command_expired';
}
