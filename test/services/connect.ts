import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { cached, cachePath } from './cache.ts';
import { announce, requireJava, run } from './commands.ts';
import { copyArtifact, copyDependencies } from './maven.ts';
import { freePort } from './ports.ts';
import { startService, type Service } from './service.ts';
import { versions } from './versions.ts';

export interface ConnectOptions {
  /** `host:port`, comma separated. */
  readonly brokers: string;
  /** Where `${env:…}` of a connector's configuration is read. */
  readonly env: Readonly<Record<string, string>>;
}

interface ConnectorStatus {
  readonly connector: { readonly state: string };
  readonly tasks: readonly { readonly state: string; readonly trace?: string }[];
}

const file = (name: string) => fileURLToPath(new URL(`connect/${name}`, import.meta.url));
const jvm = ['-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xlog:disable'];

/** A worker of Kafka Connect with the JDBC sink and the transforms of Debezium. @throws ServiceUnavailable */
export async function startConnect({ brokers, env }: ConnectOptions): Promise<Service> {
  const installed = await installConnect();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  return startService({
    name: 'Kafka Connect',
    url,
    command: 'java',
    env,
    args: (folder) => [
      ...[...jvm, '-cp', `${join(installed, 'libraries')}/*`],
      'org.apache.kafka.connect.cli.ConnectDistributed',
      join(folder, 'worker.properties'),
    ],
    async prepare(folder) {
      const settings = { brokers, port: String(port), plugins: join(installed, 'plugins') };
      const template = await readFile(file('worker.properties'), 'utf8');
      const filled = template.replace(
        /\{(\w+)\}/g,
        (_, name: string) => settings[name as keyof typeof settings],
      );
      await writeFile(join(folder, 'worker.properties'), filled);
    },
    isReady: () => isReady(url),
  });
}

/** @returns a folder with `libraries` of the worker and `plugins` @throws ServiceUnavailable */
export async function installConnect(): Promise<string> {
  const poms = await Promise.all(['pom.xml', 'converter.xml'].map((name) => readFile(file(name))));
  const digest = createHash('sha256').update(Buffer.concat(poms)).digest('hex').slice(0, 12);
  const { kafka, slf4j, converter, debezium } = versions;
  const name = `connect-${[kafka, converter, debezium, digest].join('-')}`;
  await requireJava('Kafka Connect', existsSync(cachePath(name)));
  return cached(name, async (path) => {
    announce(`fetching Kafka Connect ${kafka} and its plugins with Maven (about 100 MB, once)`);
    const plugins = join(path, 'plugins');
    await mkdir(plugins, { recursive: true });
    const libraries = join(path, 'libraries');
    await copyDependencies(file('pom.xml'), libraries, {
      'kafka.version': kafka,
      'slf4j.version': slf4j,
    });
    await copyDependencies(file('converter.xml'), join(plugins, 'converter'), {
      'converter.version': converter,
    });
    await copyArtifact(`io.debezium:debezium-connector-jdbc:${debezium}:tar.gz:plugin`, plugins);
    const archive = (await readdir(plugins)).find((one) => one.endsWith('.tar.gz')) ?? '';
    await run('tar', ['-xzf', archive], { cwd: plugins });
    await rm(join(plugins, archive));
  });
}

/** Its listener answers before the worker takes connectors. */
async function isReady(url: string): Promise<boolean> {
  try {
    const response = await fetch(`${url}/connectors`, { signal: AbortSignal.timeout(3_000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}

/** Creates or changes a connector, and waits until it and its tasks run. @throws Error with the trace of a task that failed */
export async function putConnector(
  { url }: Pick<Service, 'url'>,
  config: Readonly<Record<string, string>>,
): Promise<void> {
  const { name = '' } = config;
  const response = await fetch(`${url}/connectors/${name}/config`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(config),
  });
  if (!response.ok) throw new Error(`The connector ${name}: ${await response.text()}`);
  await connectorRuns({ url }, name);
}

/** Resolves when the connector and its tasks run. @throws Error with the trace of a task that failed */
export async function connectorRuns({ url }: Pick<Service, 'url'>, name: string): Promise<void> {
  for (;;) {
    const response = await fetch(`${url}/connectors/${name}/status`);
    if (response.ok) {
      const { connector, tasks } = (await response.json()) as ConnectorStatus;
      const failed = tasks.find(({ state }) => state === 'FAILED');
      if (failed !== undefined) throw new Error(`The connector ${name}: ${failed.trace ?? ''}`);
      const states = [connector, ...tasks].map(({ state }) => state);
      if (tasks.length > 0 && states.every((state) => state === 'RUNNING')) return;
    } else {
      await response.arrayBuffer();
    }
    await wait(200);
  }
}
