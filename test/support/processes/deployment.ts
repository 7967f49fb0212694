import { createHash } from 'node:crypto';
import { loadConfig } from '#app/config/config.ts';
import { foldersOf } from '#app/process/folders.ts';
import { LogCorruption } from '#app/process/log-corruption.ts';
import { createLogger } from '#app/process/logger.ts';
import { openMainLog, type OpenedLog } from '#app/process/open-log.ts';
import { systemClock } from '#kernel/time.ts';
import { services, serviceNames } from '#test/services/catalogue.ts';

/** Set where the gateways of a test file work on Kafka, its registry and Redis (with-services.ts). */
export const prefixVariable = 'SVC_TEST_TOPIC_PREFIX';

export const isOnServices = (): boolean => process.env[prefixVariable] !== undefined;

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** What a child needs to know of the services, to give to `deploymentEnv` there. */
export function servicesEnv(): Readonly<Record<string, string>> {
  return variables([prefixVariable, ...serviceNames.map((name) => services[name].variable)]);
}

/** What a process that a test starts has of the test's own environment. */
export const inheritedEnv = (): Readonly<Record<string, string>> =>
  variables(['PATH', 'NODE_COMPILE_CACHE']);

const variables = (names: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(names.flatMap((name) => entryOf(name)));

function entryOf(name: string): [string, string][] {
  const value = process.env[name];
  return value === undefined ? [] : [[name, value]];
}

/**
 * The settings that name log, registry and Redis of the gateway with this data folder: none where they are
 * embedded, else the services and a topic prefix that the folder alone has.
 */
export function deploymentEnv(dataDir: string): Readonly<Record<string, string>> {
  const prefix = process.env[prefixVariable];
  if (prefix === undefined) return {};
  const url = (name: 'kafka' | 'registry' | 'redis') => process.env[services[name].variable] ?? '';
  return {
    SVC_LOG_URL: url('kafka'),
    SVC_REGISTRY_URL: url('registry'),
    SVC_REDIS_URL: url('redis'),
    SVC_TOPIC_PREFIX: `${prefix}-${digest(dataDir).toString('hex').slice(0, 6)}`,
    SVC_ENCRYPTION_KEY: digest(`${prefix} root key`).toString('base64'),
    SVC_PARTITIONS: '4',
  };
}

/** The log of a gateway that has stopped. */
export async function openLogOf(dataDir: string): Promise<OpenedLog & AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  const config = loadConfig({ SVC_DATA_DIR: dataDir, ...deploymentEnv(dataDir) });
  const folders = foldersOf(dataDir);
  const { log, schemas } = await openMainLog(stack, config, {
    clock: systemClock,
    logger: createLogger('silent', 'test'),
    folders,
    corruption: new LogCorruption(folders),
    node: 'test',
  });
  const opened = stack.move();
  return { log, schemas, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
