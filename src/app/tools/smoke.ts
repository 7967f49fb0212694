import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/index.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { demoApiKey } from '#modules/extensions/demo/definitions.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config/config.ts';

const integration = 'demo-key';
const connectionId = 'smoke';
const recordsWithinMs = 60_000;
const pollMs = 100;

/**
 * Starts a gateway with the settings on a free port of loopback and an empty data folder, which is removed again, and
 * syncs the demo provider.
 * @returns the number of synced records
 * @throws CannotStart if the log is in Kafka, or no record arrives within a minute
 */
export async function smoke(config: Config): Promise<number> {
  if (config.logUrl.kind !== 'embedded') {
    throw new CannotStart('--smoke: needs the embedded log; leave SVC_LOG_URL out.');
  }
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-smoke-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const key = `svc_env_${randomBytes(32).toString('base64url')}`;
  const local = { host: '127.0.0.1', port: 0, publicUrl: null, demo: 'yes' } as const;
  const own = { dataDir, snapshotDir: null, bootstrapKeyDev: key };
  const running = stack.use(await compose({ ...config, ...local, ...own }));
  return await Promise.race([syncedRecords(running.url, key), running.failed]);
}

async function syncedRecords(url: string, key: string): Promise<number> {
  const client = createClient({ url, key });
  await client.request('POST /demo');
  const credentials = { type: 'API_KEY', apiKey: demoApiKey };
  await client.request('POST /connections', {
    body: { provider_config_key: integration, connection_id: connectionId, credentials },
  });
  const query = {
    syncs: 'contacts',
    provider_config_key: integration,
    connection_id: connectionId,
  };
  const headers = { 'provider-config-key': integration, 'connection-id': connectionId };
  const until = performance.now() + recordsWithinMs;
  while (performance.now() < until) {
    const { syncs } = await client.request('GET /sync/status', { query });
    // After success on a busy machine, the tables may still lack a part of what was saved.
    const isReadable = syncs.some(
      ({ latestExecutionStatus: status, records_readable: canBeRead }) =>
        status === 'SUCCESS' && canBeRead === true,
    );
    if (isReadable) {
      const page = { model: 'Contact', limit: 1000 };
      const { records } = await client.request('GET /records', { query: page, headers });
      if (records.length > 0) return records.length;
    }
    await delay(pollMs);
  }
  throw new CannotStart('--smoke: the sync of the demo provider saved no record within a minute.');
}
