/**
 * What the gateway holds, as `npm start` starts it: `memory.ts [records]`. At rest without a function, after
 * so many records that came from a provider over the sandbox and were read, and two minutes later. Memory is the
 * proportional set size of all its processes; the processor's share is that of half a minute without a request.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startGatewayProcess } from './gateway-process.ts';
import { report, round, seconds, withFolder } from './measure.ts';
import {
  connect,
  deploy,
  integration,
  modelOf,
  providerEnv,
  servePages,
  statusOf,
  triggerSync,
  type Api,
} from './paged-provider.ts';
import { memoryOf, restingShare, restMs } from './process-use.ts';

const [count = '100000'] = process.argv.slice(2);
const total = Number(count);
const pageSize = 100;
/** What a start leaves to be done. */
const settleMs = 30_000;
const afterwardsMs = 120_000;

/** Until the run has ended and its records can be read. */
async function synced(api: Api, connectionId: string): Promise<void> {
  for (;;) {
    const sync = await statusOf(api, connectionId, pageSize);
    if (sync?.latestExecutionStatus === 'SUCCESS' && sync.records_readable) return;
    await wait(200);
  }
}

/** Reads every record by cursor, as an application does. */
async function readAll(api: Api, connectionId: string): Promise<number> {
  let read = 0;
  for (let cursor: string | null = null; read === 0 || cursor !== null;) {
    const query = new URLSearchParams({ model: modelOf(pageSize), limit: '1000' });
    if (cursor !== null) query.set('cursor', cursor);
    const reply = await fetch(`${api.url}/records?${query.toString()}`, {
      headers: {
        authorization: `Bearer ${api.key}`,
        'provider-config-key': integration,
        'connection-id': connectionId,
      },
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(text);
    const page = JSON.parse(text) as { records: unknown[]; next_cursor: string | null };
    read += page.records.length;
    cursor = page.next_cursor;
  }
  return read;
}

await withFolder(async (folder) => {
  const port = await servePages(total, [pageSize]);
  const dataDir = join(folder, 'data');
  await mkdir(dataDir);
  await using gateway = await startGatewayProcess(dataDir, await providerEnv(folder, port));
  const { pid } = gateway;
  await wait(settleMs);
  const atRest = { ...(await restingShare('rest', pid)), ...memoryOf('rest', pid) };
  await deploy(gateway, [pageSize]);
  const connectionId = await connect(gateway, 'rush');
  await triggerSync(gateway, connectionId, pageSize);
  const syncS = await seconds(() => synced(gateway, connectionId));
  const read = await readAll(gateway, connectionId);
  if (read !== total) throw new Error(`${read} of ${total} records were read`);
  const afterRush = { sync_s: round(syncS), ...memoryOf('rush', pid) };
  await wait(afterwardsMs - restMs);
  const afterwards = { ...(await restingShare('afterwards', pid)), ...memoryOf('afterwards', pid) };
  report({ ...atRest, ...afterRush, ...afterwards });
});
// The server of the provider has no end.
process.exit();
