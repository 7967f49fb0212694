import { join } from 'node:path';
import { inProcessOwnersMethods } from '#adapters/threads/owners-rpc.ts';
import { followRetention } from '#modules/records/owner/decisions/retention-policies.ts';
import { startRecordOwners } from '#modules/records/owner/start.ts';
import { startControlOwners } from '#streams/owner/start.ts';
import { definitions } from '../entities.ts';
import { startSealing } from './sealing.ts';
import { serveThread } from './serve-thread.ts';

/** The partition owners. Nothing else runs in this thread. */
serveThread(async ({ log, schemas, vault, clock, logger, faultPoint }, stack, data) => {
  const { folders, snapshotDir, isStandby } = data;
  const ports = { log, schemas, clock, logger };
  const control = stack.use(
    await startControlOwners({ ...ports, folder: join(folders.state, 'control'), definitions }),
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
      ...(snapshotDir === null ? {} : { copies: { directory: snapshotDir } }),
      ...(isStandby ? { standby: {} } : {}),
    }),
  );
  return inProcessOwnersMethods(control);
});
