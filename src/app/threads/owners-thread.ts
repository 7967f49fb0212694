import { join } from 'node:path';
import { inProcessOwnersMethods } from '#adapters/threads/owners-rpc.ts';
import { followRetention } from '#modules/records/owner/decisions/retention.ts';
import { startRecordOwners } from '#modules/records/owner/start.ts';
import type { OnLogIncomplete } from '#streams/owner/own-partition.ts';
import { startControlOwners } from '#streams/owner/start.ts';
import { definitions } from '../process/entities.ts';
import { startSealing } from './sealing.ts';
import { serveThread } from './serve-thread.ts';
import type { LogGap } from './start-thread.ts';

/** The partition owners. Nothing else runs in this thread. */
serveThread(async ({ log, schemas, vault, clock, logger, faultPoint }, stack, data, main) => {
  const { folders, snapshotDir, isStandby } = data;
  const ports = { log, schemas, clock, logger };
  const incompleteIn =
    (owner: string): OnLogIncomplete =>
    (partition, message) =>
      main.emit('log incomplete', { part: `${owner}/${partition}`, message } satisfies LogGap);
  const control = stack.use(
    await startControlOwners({
      ...ports,
      folder: join(folders.state, 'control'),
      definitions,
      faultPoint,
      onLogIncomplete: incompleteIn('control'),
    }),
  );
  const retention = stack.use(await followRetention(ports));
  const directory = join(folders.state, 'records');
  const sealing = stack.use(startSealing(vault));
  stack.use(
    await startRecordOwners({
      ...ports,
      vault,
      sealing,
      retentionOf: (environmentUid) => retention.of(environmentUid),
      directory,
      faultPoint,
      onLogIncomplete: incompleteIn('records'),
      ...(snapshotDir === null ? {} : { copies: { directory: snapshotDir } }),
      ...(isStandby ? { standby: {} } : {}),
    }),
  );
  return inProcessOwnersMethods(control);
});
