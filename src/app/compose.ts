import {
  connectProjectionStore,
  type TableQuestions,
} from '../adapters/projection-store/store-rpc.ts';
import { createHealthServer } from '../api/health-server.ts';
import { routes, streamRoutes } from '../api/routes.ts';
import { startApiServer } from '../api/request-pipeline.ts';
import type { Services } from '../api/services.ts';
import { createCode, defaultKeys, signInUrl } from '../modules/access/console-codes/handlers.ts';
import { bootstrap } from '../modules/access/environments/bootstrap.ts';
import type { ProviderCatalogue } from '../modules/connections/providers/catalogue.ts';
import { loadCatalogue } from '../modules/connections/providers/load-catalogue.ts';
import { openProcessContext, type ProcessContext } from './process-context.ts';
import type { Config } from './config.ts';
import { watchLogLiveness, type LogLiveness } from './log-liveness.ts';
import { foldersOf } from './folders.ts';
import { retryStartup } from './retry-startup.ts';
import { LogCorruption } from './log-corruption.ts';
import { coordinationAccess, openCoordination } from './open-coordination.ts';
import type { MainLog, OpenedLog } from './open-log.ts';
import { isOnlyLocal } from './open-demo.ts';
import { openServices, type OpenedServices } from './open-services.ts';
import { scraped } from './scrape.ts';
import { startReactors } from './reactors.ts';
import { startThreads, type Threads } from './start-threads.ts';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { hostAndPort } from '../http/host-and-port.ts';
import { CannotStart } from '../kernel/cannot-start.ts';
import type { RunningThread } from './threads/start-thread.ts';

interface GeneratedKey {
  /** Name of the environment, or `account`. */
  readonly name: string;
  readonly secret: string;
}

/** The running service; parts are closed in reverse order. */
export interface Running extends AsyncDisposable {
  /** Where the HTTP API listens; without the role api only `/health` and `/ready`. */
  readonly url: string;
  /** What the first start generated, to be shown once; keys from the settings are not included. */
  readonly generatedKeys: readonly GeneratedKey[];
  /** An address that signs a browser in to the console once; null unless only this machine can open it. */
  readonly consoleUrl: string | null;
  /** Null if no role needs them: in owners and projectors. */
  readonly services: Services | null;
  readonly log: OpenedLog['log'];
  readonly schemas: OpenedLog['schemas'];
  readonly maintenance: MainLog['maintenance'];
  /** For queries to the tables besides those of the API; null in an owner. */
  readonly tables: TableQuestions | null;
  /** Rejects when an essential part has ended. */
  readonly failed: Promise<never>;
}

/** Opens exactly what the roles of this process need. A failure closes what was opened. */
export async function compose(config: Config): Promise<Running> {
  const folders = foldersOf(config.dataDir);
  const corruption = new LogCorruption(folders);
  try {
    return await open(config, { folders, corruption });
  } catch (error) {
    throw config.logUrl.kind === 'embedded' ? corruption.causeOf(error) : error;
  }
}

async function open(
  config: Config,
  input: Pick<ProcessContext, 'folders' | 'corruption'>,
): Promise<Running> {
  const providers = usesServices(config) ? loadCatalogue({ overlayPath: config.providers }) : null;
  await mustBeFree(config);
  // Nothing is written before this line: a start that fails because of its settings leaves nothing behind.
  await using stack = new AsyncDisposableStack();
  const context = await openProcessContext(stack, config, input);
  const threads = await startThreads(stack, context);
  const failed = Promise.race(threads.all.map((thread) => thread.failed));
  failed.catch(() => undefined);
  const coordination = await openCoordination(stack, coordinationAccess(config), context.logger);
  const liveness = stack.use(watchLogLiveness({ ...context, log: context.log.log, coordination }));
  const { reasons: readiness, started } = createReadiness(threads.all, liveness, input.corruption);
  const opened = await openForRoles(stack, context, threads, {
    coordination,
    readiness,
    providers,
  });
  // Closed concurrently with the server, so that requests that wait for a run end.
  const reactors = stack.use(new AsyncDisposableStack());
  if (opened !== null) await startReactors(reactors, context, opened);
  const scrape = () => scraped(context.metrics, threads.all);
  const served = serve(config, opened?.services ?? null, { readiness, scrape });
  const server = await served.catch((error: unknown) => {
    throw addressProblem(error, config) ?? error;
  });
  stack.defer(async () => {
    await Promise.all([server[Symbol.asyncDispose](), reactors.disposeAsync()]);
  });
  // Keys are shown once, so that none are generated before the address is bound.
  const generatedKeys = opened === null ? [] : await generatedKeysOf(context, opened);
  const consoleUrl = opened === null ? null : await consoleUrlOf(config, opened.services);
  started();
  const { projection } = threads;
  const { log, schemas, maintenance } = context.log;
  const running = stack.move();
  return {
    url: server.url,
    generatedKeys,
    consoleUrl,
    services: opened?.services ?? null,
    log,
    schemas,
    maintenance,
    tables: projection === null ? null : connectProjectionStore(projection.peer),
    failed,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

const usesServices = ({ roles }: Config): boolean =>
  roles.has('api') || roles.has('runner') || roles.has('webhooks');

async function openForRoles(
  stack: AsyncDisposableStack,
  context: ProcessContext,
  threads: Threads,
  input: Pick<Services, 'coordination' | 'readiness'> & {
    readonly providers: ProviderCatalogue | null;
  },
): Promise<OpenedServices | null> {
  const { projection } = threads;
  const { providers } = input;
  if (providers === null || projection === null) return null;
  return openServices(stack, context, { ...threads, projection }, { ...input, providers });
}

/** Generates the first keys if there are none. Keys from the settings are not returned. */
async function generatedKeysOf(
  context: ProcessContext,
  opened: OpenedServices,
): Promise<readonly GeneratedKey[]> {
  const { roles, bootstrapAccountKey, bootstrapKeyDev, bootstrapKeyProd } = context.config;
  if (!roles.has('api')) return [];
  const secrets = {
    accountKey: bootstrapAccountKey,
    keyDev: bootstrapKeyDev,
    keyProd: bootstrapKeyProd,
  };
  const owners = 'an owner of the control plane, and coordination, to make the first keys';
  const made = await retryStartup(owners, () => bootstrap(opened.services, secrets), context);
  if (made === null) return [];
  const input: ReadonlySet<string | null> = new Set(Object.values(secrets));
  const keys = [...made.environments, { name: 'account', secret: made.accountKey }];
  return keys.filter(({ secret }) => !input.has(secret));
}

/**
 * A link of the default keys, for the output of a start that only this machine can reach: its readers own the data
 * folder. With a public address, a proxy stands in front and the output goes to a log.
 */
async function consoleUrlOf(config: Config, services: Services): Promise<string | null> {
  if (!config.roles.has('api') || !isOnlyLocal(config)) return null;
  const { code } = await createCode(services, defaultKeys(services), { actor: 'system' });
  return signInUrl(services.settings.publicUrl, code);
}

async function serve(
  { roles, host, port }: Config,
  services: Services | null,
  { readiness, scrape }: Pick<Services, 'readiness' | 'scrape'>,
): Promise<AsyncDisposable & { readonly url: string }> {
  if (!roles.has('api') || services === null) {
    const ready = () => services?.readiness() ?? readiness();
    return createHealthServer({ readiness: ready, scrape, host, port });
  }
  const server = await startApiServer({ routes, streamRoutes, services, host, port });
  services.settings.publicUrl ||= server.url;
  return server;
}

/**
 * Checks that the address is free before anything is opened.
 * @throws CannotStart
 */
async function mustBeFree(address: Pick<Config, 'host' | 'port'>): Promise<void> {
  const server = createServer((socket) => socket.destroy()).listen(address.port, address.host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw addressProblem(error, address) ?? error;
  }
  server.close();
  await once(server, 'close');
}

/** Why the server cannot listen on the address, for the operator; null: the error has another cause. */
function addressProblem(
  cause: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
): CannotStart | null {
  if (!(cause instanceof Error) || !('syscall' in cause) || !('code' in cause)) return null;
  if (cause.syscall !== 'listen' && cause.syscall !== 'getaddrinfo') return null;
  const code = String(cause.code);
  return new CannotStart(textOf(code, host, hostAndPort(host, port)), { cause });
}

function textOf(code: string, host: string, address: string): string {
  switch (code) {
    case 'EADDRINUSE':
      return `SVC_PORT: ${address} is taken by another process; stop it or choose another port (0 = any that is free).`;
    case 'EACCES':
      return `SVC_PORT: this user may not listen on ${address}; choose a port above 1023.`;
    default:
      return `SVC_HOST: ${host} cannot be listened on (${code}); name an address of this machine.`;
  }
}

interface Readiness {
  /**
   * Why this node is not ready: it is starting, a thread has ended or waits, the log is silent or corrupt. Empty =
   * ready.
   */
  readonly reasons: () => readonly string[];
  /** Call when the start has finished: from now on a request with a valid key succeeds. */
  readonly started: () => void;
}

/** A node that has not finished its start is not ready, although it already listens. */
const starting = 'the start has not finished: the API keys of the service are not known here yet';

function createReadiness(
  threads: readonly RunningThread[],
  liveness: Pick<LogLiveness, 'reasons'>,
  corruption: Pick<LogCorruption, 'reasons'>,
): Readiness {
  let isStarted = false;
  const ended: string[] = [];
  const waiting = new Map<RunningThread, string>();
  for (const thread of threads) {
    thread.failed.catch((error: unknown) =>
      ended.push(error instanceof Error ? error.message : 'ended'),
    );
    thread.onReadiness((reason) => {
      if (reason === null) waiting.delete(thread);
      else waiting.set(thread, reason);
    });
  }
  return {
    reasons: () => [
      ...(isStarted ? [] : [starting]),
      ...ended,
      ...waiting.values(),
      ...liveness.reasons(),
      ...corruption.reasons(),
    ],
    started: () => {
      isStarted = true;
    },
  };
}
