import { randomUUID } from 'node:crypto';
import { openReplies } from '../control-plane/replies.ts';
import { openControlView } from '../control-plane/view.ts';
import { createControlPlane } from '../control-plane/client.ts';
import { createAesGcm } from '../adapters/cipher/aes-gcm.ts';
import { openInProcessCoordination } from '../adapters/coordination/in-process.ts';
import { openEmbeddedLog, type EmbeddedLog } from '../adapters/event-log/embedded/open.ts';
import { createHttpClient } from '../adapters/http-client/undici.ts';
import { holdEngine } from '../adapters/projection-store/hold-engine.ts';
import { connectRecordReader } from '../adapters/projection-store/reader-rpc.ts';
import {
  connectProjectionStore,
  type TableQuestions,
} from '../adapters/projection-store/store-rpc.ts';
import { routes } from '../http/routes.ts';
import { createHttpServer } from '../http/server.ts';
import type { Services } from '../http/services.ts';
import { systemClock } from '../kernel/time.ts';
import { createRunsClient } from '../modules/actions/handlers.ts';
import { loadRootKeys } from '../modules/credentials/root-keys.ts';
import { openVault } from '../modules/credentials/open-vault.ts';
import { bootstrap, type Bootstrapped } from '../modules/environments/bootstrap.ts';
import type { Environment } from '../modules/environments/state.ts';
import { loadCatalogue } from '../modules/providers/load-catalogue.ts';
import { createRecordWriter } from '../modules/records/handlers.ts';
import { createRunBodies } from '../modules/runs/bodies.ts';
import { followRunEnds } from '../modules/runs/run-ends.ts';
import type { Base } from './base.ts';
import type { Config } from './config.ts';
import { createFaultPoint } from './fault-points.ts';
import { makeFolders } from './folders.ts';
import { createLogger } from './logger.ts';
import { createReadiness } from './readiness.ts';
import { startReactors } from './reactors.ts';
import type { ThreadData } from './threads/ground.ts';
import { startThread, type RunningThread } from './threads/start-thread.ts';
import { topicSpecs } from './topics.ts';
import { version } from './version.ts';

/** The running service, closed in the opposite order of its opening. */
export interface Running extends AsyncDisposable {
  /** Where the HTTP API listens; null without the role api. */
  readonly url: string | null;
  /** What the first start made; null on later ones. */
  readonly firstKeys: Bootstrapped | null;
  readonly services: Services;
  readonly log: EmbeddedLog['log'];
  readonly schemas: EmbeddedLog['schemas'];
  readonly maintenance: EmbeddedLog['maintenance'];
  /** For questions to the tables beside those of the API. */
  readonly tables: TableQuestions;
  /** Rejects when a part has ended that the service cannot do without. */
  readonly failed: Promise<never>;
}

/** Opens everything that the roles of this process need. A failure half-way closes what was opened. */
export async function compose(config: Config): Promise<Running> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock;
  const logger = createLogger(config.logLevel, 'main');
  const folders = makeFolders(config.dataDir);
  const rootKeys = loadRootKeys({ setting: config.encryptionKey, file: folders.rootKeyFile });
  const onCleanFailure = (err: unknown) => logger.warn({ err }, 'cleaning the log failed');
  const embedded = stack.use(
    await openEmbeddedLog({ directory: folders.log, clock, onCleanFailure }),
  );
  await embedded.log.ensureTopics(topicSpecs(config.partitions));
  const threads = await startThreads(stack, config, embedded, { folders, rootKeys });
  const failed = Promise.race(threads.all.map((thread) => thread.failed));
  failed.catch(() => undefined);

  const { log, schemas } = embedded;
  const vault = stack.use(
    await openVault({ log, schemas, rootKeys, newCipher: createAesGcm, clock, logger }),
  );
  const bodies = createRunBodies({ log, schemas, vault });
  const base: Base = { config, clock, logger, embedded, bodies };
  const services = await openServices(stack, base, { vault, threads, views: folders.views });
  const firstKeys = await bootstrap(services, {
    accountKey: config.bootstrapAccountKey,
    keyDev: config.bootstrapKeyDev,
    keyProd: config.bootstrapKeyProd,
  });
  await startReactors(stack, base, services);
  const url = await serve(stack, config, services);
  const opened = stack.move();
  return {
    url,
    firstKeys,
    services,
    log,
    schemas,
    maintenance: embedded.maintenance,
    tables: connectProjectionStore(threads.projection.peer),
    failed,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface Threads {
  readonly projection: RunningThread;
  readonly all: readonly RunningThread[];
}

async function startThreads(
  stack: AsyncDisposableStack,
  config: Config,
  embedded: EmbeddedLog,
  shared: Pick<ThreadData, 'folders' | 'rootKeys'>,
): Promise<Threads> {
  const { partitions, logLevel, faultPoint, clickhouseUrl, clickhouseCluster } = config;
  const isInProcess = clickhouseUrl === 'embedded:';
  const clickhouse = {
    url: isInProcess ? `embedded:${shared.folders.tables}` : clickhouseUrl,
    cluster: clickhouseCluster,
  };
  const common = { ...shared, clickhouse, partitions, logLevel, faultPoint };
  const start = async (name: string, niceness: number) =>
    stack.use(await startThread({ name, niceness, ...common }, embedded.connectPort()));
  const owners = config.roles.has('owner') ? [await start('owners', 5)] : [];
  if (isInProcess) await holdEngine();
  const projection = await start('projection', 10);
  return { projection, all: [...owners, projection] };
}

interface Opened {
  readonly vault: Services['vault'];
  readonly threads: Threads;
  /** Folder of this node's views. */
  readonly views: string;
}

async function openServices(
  stack: AsyncDisposableStack,
  { config, clock, logger, embedded, bodies }: Base,
  { vault, threads, views }: Opened,
): Promise<Services> {
  const { log, schemas } = embedded;
  const replies = stack.use(await openReplies({ log, schemas, node: randomUUID(), logger }));
  const file = `${views}/control.sqlite`;
  const view = stack.use(await openControlView({ log, schemas, clock, logger, file }));
  const control = await createControlPlane({ log, schemas, clock, view, replies });
  const writer = await createRecordWriter({
    log,
    schemas,
    replies,
    vault,
    clock,
    payloadMode: (uid) => view.find<Environment>('environment', [uid])?.payloadMode ?? 'plain',
    faultPoint: createFaultPoint(config.faultPoint),
  });
  const ends = stack.use(await followRunEnds({ log, schemas, logger }));
  return {
    control,
    vault,
    providers: loadCatalogue({ overlayPath: config.providers }),
    records: { writer, reader: connectRecordReader(threads.projection.peer, clock) },
    runs: createRunsClient({ control, bodies, ends }),
    coordination: stack.use(openInProcessCoordination()),
    http: stack.use(createHttpClient({ allow: config.egressAllow })),
    clock,
    logger,
    settings: {
      publicUrl: config.publicUrl ?? '',
      rateLimitPerMinute: config.rateLimitPerMinute,
      version: version(),
      partitions: config.partitions,
    },
    readiness: createReadiness(threads.all),
  };
}

async function serve(
  stack: AsyncDisposableStack,
  { roles, host, port }: Config,
  services: Services,
): Promise<string | null> {
  if (!roles.has('api')) return null;
  const { url } = stack.use(await createHttpServer({ routes, services, host, port }));
  services.settings.publicUrl ||= url;
  return url;
}
