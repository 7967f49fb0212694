import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { load as parseYaml } from 'js-yaml';
import { paginate } from '#adapters/sandbox/guest/paginate.ts';
import { castAll, playAll } from '#fake-providers/play-all.ts';
import type { Paginate } from '#fake-providers/play-entry.ts';
import type { EntryReport } from '#fake-providers/report.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { isJsonObject, type Json } from '#kernel/stable-json.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { compose } from '../compose.ts';
import type { Config } from '../config/config.ts';

/**
 * Plays every definition of a file against a fake of its mode, on a gateway of its own with an empty data folder, which
 * is removed again.
 * @throws CannotStart with every mistake of the file, or if the log is in Kafka
 */
export async function testProviders(config: Config, file: string): Promise<EntryReport[]> {
  if (config.logUrl.kind !== 'embedded') {
    throw new CannotStart('providers test: needs the embedded log; leave SVC_LOG_URL out.');
  }
  const catalogue = loadCatalogue({ overlayPath: file });
  const content = parseYaml(await readFile(file, 'utf8')) as Json;
  const names = isJsonObject(content) ? Object.keys(content) : [];
  const definitions = names.flatMap((name) => catalogue.find(name) ?? []);
  if (definitions.length === 0) throw new CannotStart(`${file}: no definition of a provider.`);
  await using stack = new AsyncDisposableStack();
  const dataDir = await mkdtemp(join(tmpdir(), 'svc-providers-'));
  stack.defer(() => rm(dataDir, { recursive: true, force: true }));
  const fake = stack.use(await openFakeAuth());
  const casts = castAll(fake, definitions);
  const providers = join(dataDir, 'played.json');
  await writeFile(providers, JSON.stringify(fake.definitions()));
  const key = `svc_env_${randomBytes(32).toString('base64url')}`;
  const local = { host: '127.0.0.1', port: 0, publicUrl: null, demo: 'no' } as const;
  const own = { dataDir: join(dataDir, 'data'), snapshotDir: null, bootstrapKeyDev: key };
  const played = { providers, egressAllow: [fake.hostPort], logLevel: 'error' } as const;
  const running = stack.use(await compose({ ...config, ...local, ...own, ...played }));
  const gateway = { url: running.url, key };
  return await Promise.race([playAll(gateway, casts, paginate as Paginate), running.failed]);
}
