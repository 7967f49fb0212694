import { statSync } from 'node:fs';
import { join } from 'node:path';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { logFile } from '#adapters/event-log/embedded/tables.ts';
import { createControlPlane } from '#control-plane/client.ts';
import { openReplies } from '#control-plane/replies.ts';
import { openControlView } from '#control-plane/view.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { createKey } from '#modules/access/api-keys/handlers.ts';
import { listKeys } from '#modules/access/api-keys/queries.ts';
import { createAuditRecorder } from '#modules/access/audit/recorder.ts';
import { openVault } from '#modules/access/vault/open-vault.ts';
import { startControlOwners } from '#streams/owner/start.ts';
import type { Config } from '../config/config.ts';
import { definitions } from '../process/entities.ts';
import { foldersOf } from '../process/folders.ts';
import { LogCorruption } from '../process/log-corruption.ts';
import { openProcessContext } from '../process/process-context.ts';

const actor = 'operator:keys-recover';

/**
 * Creates a new account key for an operator who holds the log and its root key. The event is appended to the audit
 * chain of the account first: there is no key without its event.
 * @throws CannotStart if a process holds the data folder, the root key is another one, or the log belongs to no
 *   service
 */
export async function recoverAccountKey(config: Config): Promise<string> {
  const folders = foldersOf(config.dataDir);
  const corruption = new LogCorruption(folders);
  if (config.logUrl.kind === 'embedded') mustHoldAService(folders.log);
  await using stack = new AsyncDisposableStack();
  const {
    log: opened,
    rootKeys,
    clock,
    logger,
    node,
  } = await openProcessContext(stack, config, {
    folders,
    corruption,
  }).catch((error: unknown) => {
    throw corruption.causeOf(error);
  });
  const { log, schemas } = opened;
  const ports = { log, schemas, clock, logger };
  const vault = stack.use(await openVault({ ...ports, rootKeys, newCipher: createAesGcm }));
  const folder = join(folders.state, 'control');
  const owners = stack.use(await startControlOwners({ ...ports, folder, definitions }));
  const replies = stack.use(await openReplies({ ...ports, node }));
  const view = stack.use(await openControlView({ ...ports, file: ':memory:', definitions }));
  const control = await createControlPlane({ ...ports, view, replies, owners });
  if (listKeys(control, null).length === 0) throw noService();
  const displayName = `Recovered ${new Date(clock.now()).toISOString()}`;
  const audit = stack.use(createAuditRecorder({ control, clock, logger }));
  await audit.change('account', {
    actor,
    action: 'account_key.recover',
    target: displayName,
    outcome: 'success',
    ip_prefix: null,
    details: null,
  });
  const { secret } = await createKey(
    { control, vault },
    { environmentUid: null, displayName },
    { actor },
  );
  return secret;
}

function mustHoldAService(log: string): void {
  const size = statSync(logFile(log), { throwIfNoEntry: false })?.size ?? 0;
  if (size === 0) throw noService();
}

const noService = (): CannotStart =>
  new CannotStart(
    'There is no account key to recover: SVC_DATA_DIR or SVC_LOG_URL names a log that no service has used. Name the log of the service.',
  );
