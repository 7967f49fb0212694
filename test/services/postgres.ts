import { existsSync } from 'node:fs';
import { chown, cp, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { arch, getuid } from 'node:process';
import { cached, cachePath } from './cache.ts';
import { announce, requireJdk, run } from './commands.ts';
import { copyArtifact } from './maven.ts';
import { installNpmPackage } from './npm-package.ts';
import { freePort } from './ports.ts';
import { startService, type Service } from './service.ts';
import { versions } from './versions.ts';

export interface Postgres extends Service {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** Runs one statement in a connection of its own. */
  query<T extends object>(statement: string): Promise<T[]>;
}

const [user, password] = ['warehouse', 'warehouse-password'];
/** The server refuses to run as root: nobody of the distribution. */
const unprivileged = 65_534;

/** An empty server with one database, `warehouse`. @throws ServiceUnavailable */
export async function startPostgres(): Promise<Postgres> {
  const installed = await installPostgres();
  const port = await freePort();
  const isRoot = getuid?.() === 0;
  const asUser = isRoot
    ? ['setpriv', `--reuid=${unprivileged}`, `--regid=${unprivileged}`, '--clear-groups']
    : ['env'];
  const [command = '', ...options] = asUser;
  const service = await startService({
    name: 'PostgreSQL',
    url: `postgresql://${user}:${password}@127.0.0.1:${port}/postgres`,
    command,
    args: (folder) => [
      ...[...options, join(folder, 'server', 'bin', 'postgres')],
      ...['-D', join(folder, 'data'), '-p', String(port)],
      ...['-c', 'listen_addresses=127.0.0.1', '-c', `unix_socket_directories=${folder}`],
    ],
    async prepare(folder) {
      // Its own copy: that user may not enter the cache.
      await cp(installed, join(folder, 'server'), { recursive: true, verbatimSymlinks: true });
      await writeFile(join(folder, 'password'), password);
      if (isRoot) await chown(folder, unprivileged, unprivileged);
      const initdb = join(folder, 'server', 'bin', 'initdb');
      const settings = ['-D', join(folder, 'data'), '-U', user, '-A', 'scram-sha-256'];
      const fromFile = ['-E', 'UTF8', '--locale=C', '--pwfile', join(folder, 'password')];
      await run(command, [...options, initdb, ...settings, ...fromFile], { cwd: folder });
    },
    isReady: (output) => output.includes('database system is ready to accept connections'),
  });
  const { Client } = await loadClient();
  return Object.assign(service, {
    port,
    user,
    password,
    async query<T extends object>(statement: string): Promise<T[]> {
      const client = new Client({ connectionString: service.url });
      await client.connect();
      try {
        return (await client.query(statement)).rows as T[];
      } finally {
        await client.end();
      }
    },
  });
}

/** @returns a folder with `bin`, `lib` and `share` @throws ServiceUnavailable */
export async function installPostgres(): Promise<string> {
  const name = `postgres-${versions.postgres}`;
  if (!existsSync(cachePath(name))) await requireJdk('PostgreSQL');
  return cached(name, async (path) => {
    announce(`fetching PostgreSQL ${versions.postgres} with Maven (15 MB, once)`);
    const kind = arch === 'arm64' ? 'linux-arm64v8' : 'linux-amd64';
    const artifact = `io.zonky.test.postgres:embedded-postgres-binaries-${kind}:${versions.postgres}`;
    await mkdir(path);
    await copyArtifact(artifact, path);
    for (const ending of ['.jar', '.txz']) {
      const archive = (await readdir(path)).find((one) => one.endsWith(ending)) ?? '';
      const unpack = ending === '.jar' ? ['jar', '-xf', archive] : ['tar', '-xJf', archive];
      await run(unpack[0]!, unpack.slice(1), { cwd: path });
      await rm(join(path, archive));
    }
  });
}

interface Client {
  connect(): Promise<void>;
  query(statement: string): Promise<{ readonly rows: object[] }>;
  end(): Promise<void>;
}

async function loadClient() {
  const folder = await installNpmPackage('pg', versions.pg);
  const load = createRequire(join(folder, 'package.json'));
  return load('pg') as { readonly Client: new (options: { connectionString: string }) => Client };
}
