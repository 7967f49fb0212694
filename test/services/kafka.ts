import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cached, cachePath } from './cache.ts';
import { announce, requireJava, run } from './commands.ts';
import { copyDependencies } from './maven.ts';
import { freePort } from './ports.ts';
import { startService, type Service, type ServiceSpec } from './service.ts';
import { versions } from './versions.ts';

export interface KafkaOptions {
  /** Over those of `kafka/server.properties`. */
  readonly settings?: Readonly<Record<string, string | number>>;
}

interface Installed {
  readonly libraries: string;
  /** A data folder as the storage tool formats it; holds neither ports nor paths. */
  readonly formatted: string;
  /** The classes of the broker, shared between starts: saves half the start-up time. */
  readonly classes: string;
}

const pom = fileURLToPath(new URL('kafka/pom.xml', import.meta.url));
const template = new URL('kafka/server.properties', import.meta.url);
const clusterId = 'c3ZjLXRlc3QtY2x1c3Rlcg';
const jvm = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xlog:disable'];

/** One broker of a cluster of its own, empty. @throws ServiceUnavailable */
export async function startKafka(options: KafkaOptions = {}): Promise<Service> {
  return startService(await brokerSpec(await installKafka(), options));
}

/** Fetches what the broker needs, once per machine. @throws ServiceUnavailable */
export async function installKafka(): Promise<Installed> {
  const digest = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 12);
  const name = `kafka-${versions.kafka}-${digest}`;
  await requireJava('Kafka', existsSync(cachePath(name)));
  const folder = await cached(name, async (path) => {
    announce(`fetching Apache Kafka ${versions.kafka} with Maven (about 50 MB, once)`);
    await mkdir(path);
    const properties = { 'kafka.version': versions.kafka, 'slf4j.version': versions.slf4j };
    await copyDependencies(pom, join(path, 'libraries'), properties);
    await format(path);
  });
  const places = { libraries: join(folder, 'libraries'), formatted: join(folder, 'formatted') };
  const classes = await cached(`${name}.jsa`, (path) => archiveClasses(places, path));
  return { ...places, classes };
}

async function format(folder: string): Promise<void> {
  const file = join(folder, 'format.properties');
  const ports = { port: 1, controllerPort: 2 };
  await writeFile(file, await properties({ ...ports, data: join(folder, 'formatted') }, {}));
  const tool = ['kafka.tools.StorageTool', 'format', '-t', clusterId, '-c', file];
  await run('java', ['-Xmx128m', '-cp', `${join(folder, 'libraries')}/*`, ...tool]);
}

/** Starts a broker once, and keeps the classes that it loaded. */
async function archiveClasses(
  places: Pick<Installed, 'libraries' | 'formatted'>,
  path: string,
): Promise<void> {
  const aside = await mkdtemp(join(tmpdir(), 'svc-classes-'));
  try {
    const classes = join(aside, 'classes.jsa');
    const spec = await brokerSpec({ ...places, classes }, {}, '-XX:ArchiveClassesAtExit');
    const broker = await startService(spec);
    await broker.stop();
    await cp(classes, path);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function brokerSpec(
  { libraries, formatted, classes }: Installed,
  { settings = {} }: KafkaOptions,
  archive: '-XX:SharedArchiveFile' | '-XX:ArchiveClassesAtExit' = '-XX:SharedArchiveFile',
): Promise<ServiceSpec> {
  const [port, controllerPort] = [await freePort(), await freePort()];
  const file = (folder: string) => join(folder, 'server.properties');
  return {
    name: 'Kafka',
    url: `kafka://127.0.0.1:${port}`,
    command: 'java',
    args: (folder) => [
      ...[...jvm, `${archive}=${classes}`, '-cp', `${libraries}/*`],
      ...['kafka.Kafka', file(folder)],
    ],
    async prepare(folder) {
      const data = join(folder, 'data');
      await cp(formatted, data, { recursive: true });
      await writeFile(file(folder), await properties({ port, controllerPort, data }, settings));
    },
    isReady: (output) => output.includes('Kafka Server started'),
  };
}

/** The configuration file: the template with its places filled in, and the settings over it. */
async function properties(
  places: Readonly<Record<string, string | number>>,
  settings: Readonly<Record<string, string | number>>,
): Promise<string> {
  const text = await readFile(template, 'utf8');
  const filled = text.replace(/\{(\w+)\}/g, (_, name: string) => String(places[name]));
  const over = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  return filled + over.join('');
}
