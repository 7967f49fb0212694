import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cached, cachePath } from './cache.ts';
import { announce, requireJava, run } from './commands.ts';
import { copyArtifact } from './maven.ts';
import { freePort } from './ports.ts';
import { startService, type Service, type ServiceSpec } from './service.ts';
import { versions } from './versions.ts';

interface Installed {
  readonly folder: string;
  readonly classes: string;
}

const jvm = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xlog:disable'];

/** Where the interface of Confluent's registry is. */
const confluentPath = '/apis/ccompat/v7';

/** A Confluent-compatible schema registry (Apicurio), empty; keeps its schemas over a restart. @throws ServiceUnavailable */
export async function startRegistry(): Promise<Service> {
  return startService(await registrySpec(await installRegistry()));
}

/** Fetches the registry, once per machine. @throws ServiceUnavailable */
export async function installRegistry(): Promise<Installed> {
  const name = `apicurio-registry-${versions.registry}`;
  await requireJava('The schema registry', existsSync(cachePath(name)));
  const folder = await cached(name, fetchRegistry);
  const classes = await cached(`${name}.jsa`, (path) => archiveClasses(folder, path));
  return { folder, classes };
}

async function fetchRegistry(path: string): Promise<void> {
  announce(`fetching Apicurio Registry ${versions.registry} with Maven (about 110 MB, once)`);
  await mkdir(path);
  await copyArtifact(`io.apicurio:apicurio-registry-app:${versions.registry}:tar.gz:all`, path);
  const [archive = ''] = await readdir(path);
  await run('tar', ['-xzf', archive], { cwd: path });
  await rm(join(path, archive));
}

/** Starts a registry once, and keeps the classes that it loaded. */
async function archiveClasses(folder: string, path: string): Promise<void> {
  const aside = await mkdtemp(join(tmpdir(), 'svc-classes-'));
  try {
    const classes = join(aside, 'classes.jsa');
    const spec = await registrySpec({ folder, classes }, '-XX:ArchiveClassesAtExit');
    const registry = await startService(spec);
    await registry.stop();
    await cp(classes, path);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function registrySpec(
  { folder: installed, classes }: Installed,
  archive: '-XX:SharedArchiveFile' | '-XX:ArchiveClassesAtExit' = '-XX:SharedArchiveFile',
): Promise<ServiceSpec> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}${confluentPath}`;
  // Without the delay a killed one loses the last half second.
  const database = (folder: string) =>
    `jdbc:h2:file:${join(folder, 'data', 'registry')};WRITE_DELAY=0`;
  const jar = join(installed, `apicurio-registry-app-${versions.registry}-runner.jar`);
  return {
    name: 'The schema registry',
    url,
    command: 'java',
    args: (folder) => [
      ...[...jvm, `${archive}=${classes}`],
      '-Dquarkus.http.host=127.0.0.1',
      `-Dquarkus.http.port=${port}`,
      '-Dapicurio.storage.kind=sql',
      '-Dapicurio.storage.sql.kind=h2',
      `-Dapicurio.datasource.url=${database(folder)}`,
      ...['initial', 'min'].map((size) => `-Dapicurio.datasource.jdbc.${size}-size=1`),
      ...['-jar', jar],
    ],
    cwd: installed,
    isReady: () => takesSchemas(url),
  };
}

/** Clients wait no longer for an answer (`answerTimeoutMs` of the registry's adapter). */
const answerWithinMs = 3_000;

/** Whether a schema is registered, found and deleted in the time that clients have: it may answer long before. */
async function takesSchemas(url: string): Promise<boolean> {
  const subject = `${url}/subjects/readiness`;
  const schema = JSON.stringify({ schema: '"string"' });
  return (
    (await answers('POST', `${subject}/versions`, schema)) &&
    (await answers('GET', `${subject}/versions/latest`)) &&
    (await answers('DELETE', subject)) &&
    (await answers('DELETE', `${subject}?permanent=true`)) &&
    (await answers('GET', `${url}/subjects`))
  );
}

async function answers(method: string, url: string, body: string | null = null): Promise<boolean> {
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const signal = AbortSignal.timeout(answerWithinMs);
  try {
    const answer = await fetch(url, { method, headers, body, signal });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    return false;
  }
}
