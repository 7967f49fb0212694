import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import { commandTo } from '#control-plane/entity.ts';
import { dayMs, isoMillis, type Instant, type Clock } from '#kernel/time.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { keysTopic } from '#modules/access/vault/key-log.ts';
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
  /** How long the wrapped data key may remain in the files of the log; 0 = it is unrecoverable. */
  keyGoneAfterMs: number,
  at: Instant,
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

export interface DeletionDeps extends SealedEntities {
  readonly clock: Clock;
  readonly connectionDependents: ConnectionDependents;
}

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
