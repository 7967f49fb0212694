import { setTimeout as wait } from 'node:timers/promises';
import { openHttpClient } from './webhook-receiver.ts';
import { connectionRef } from '../../src/modules/connections/connections/entity.ts';
import { createDecryptedConnectionCache } from '../../src/modules/connections/connections/decrypted-connection-cache.ts';
import { createRefresher } from '../../src/modules/connections/connections/refresh.ts';
import { importConnection } from '../../src/modules/connections/connections/handlers.ts';
import type { Connection } from '../../src/modules/connections/connections/state.ts';
import { createEnvironment } from '../../src/modules/access/environments/handlers.ts';
import type { Environment } from '../../src/modules/access/environments/state.ts';
import { functionRef } from '../../src/modules/functions/functions/entity.ts';
import type {
  DeployedFunction,
  FunctionKind,
} from '../../src/modules/functions/functions/state.ts';
import { createIntegration } from '../../src/modules/connections/integrations/handlers.ts';
import type { Services } from '../../src/api/services.ts';
import { createReadableRuns } from '../../src/modules/records/readable.ts';
import type { RecordReader } from '../../src/modules/records/reader.ts';
import { systemClock, type Clock } from '../../src/kernel/time.ts';
import type { BarrierAnswer, RecordWriter } from '../../src/modules/records/writer.ts';
import { createRunsClient } from '../../src/modules/functions/actions/handlers.ts';
import {
  createPayloadStore,
  type PayloadStore,
} from '../../src/modules/functions/runs/payload-store.ts';
import { DirectRuns } from '../../src/modules/functions/runs/direct-runs.ts';
import type { RunsClient } from '../../src/modules/functions/runs/client.ts';
import type { RunChanged } from '../../src/modules/functions/runs/events.ts';
import { openHost } from '../../src/modules/functions/runs/open-host.ts';
import { createConnectionFinder } from '../../src/modules/webhooks/webhooks-in/find-connections.ts';
import { createProviderKeys } from '../../src/modules/webhooks/webhooks-in/provider-keys.ts';
import { openIncoming } from '../../src/modules/webhooks/webhooks-in/incoming-store.ts';
import { openDeliveries } from '../../src/modules/webhooks/webhooks-out/deliveries.ts';
import { openDeadLetters } from '../../src/modules/operations/dead-letters/view.ts';
import { createPublisher, type Publisher } from '../../src/control-plane/publisher.ts';
import { consumeRunCompletions } from '../../src/modules/functions/runs/run-completions.ts';
import { createAuditRecorder } from '../../src/modules/access/audit/recorder.ts';
import type { OperationLogs } from '../../src/ports/operation-log.ts';
import { createOperationLogs } from '../../src/modules/operations/logs/operation-log.ts';
import { createTimelines } from '../../src/modules/functions/runs/timeline.ts';
import { syncRef } from '../../src/modules/functions/syncs/entity.ts';
import type { SyncInstance } from '../../src/modules/functions/syncs/state.ts';
import type { HttpClient } from '../../src/ports/http-client.ts';
import type { Sandbox } from '../../src/ports/sandbox.ts';
import { openOperatorRequests } from '../../src/modules/operations/consumer-groups/operator-requests.ts';
import type { OperatorRequests } from '../../streams/reactor/reactor.ts';
import {
  startFunctionRunner,
  type FunctionRunnerDeps,
} from '../../src/modules/functions/runs/runner/function-run.ts';
import { uncounted } from './metrics.ts';
import {
  aProvider,
  openControlWorld,
  silent,
  type ControlNode,
  type ControlWorld,
} from './control.ts';
import { createDependents } from '../../src/app/dependents.ts';
import { projections } from '../../src/app/projections.ts';
import { findRecordReaders } from '../../src/app/record-readers.ts';

const options = { actor: 'system' };
const provider = aProvider();

/** Waits until the question has an answer; the test's own time limit ends it. */
export async function until<T>(ask: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const answer = await ask();
    if (answer !== null && answer !== undefined && answer !== false) return answer;
    await wait(10);
  }
}

/** What became of the streams, without their owners, which have tests of their own. */
export class RecordedWrites {
  readonly calls: string[] = [];
  readonly saved: unknown[] = [];
  /** Models at whose barrier the run had succeeded. */
  readonly succeeded: string[] = [];
  /** What the barrier of a model answers; a thrown error is its refusal. */
  answer: (model: string) => Partial<BarrierAnswer> = () => ({});

  readonly writer: RecordWriter = {
    save: async ({ model }, { attempt }, records) => {
      this.calls.push(`save ${model} ${attempt}`);
      this.saved.push(...records);
    },
    update: async ({ model }) => void this.calls.push(`update ${model}`),
    delete: async ({ model }) => void this.calls.push(`delete ${model}`),
    passStart: async ({ model }) => void this.calls.push(`passStart ${model}`),
    passEnd: async ({ model }) => {
      this.calls.push(`passEnd ${model}`);
      return { deletedKeys: [] };
    },
    runPassStart: async ({ model }) => void this.calls.push(`runPassStart ${model}`),
    runPassEnd: async ({ model }) => {
      this.calls.push(`runPassEnd ${model}`);
      return { deletedKeys: [] };
    },
    lookup: async () => [],
    setMergingStrategy: async () => undefined,
    prune: async () => ({ count: 0, lastPosition: null }),
    revert: async () => [],
    empty: async ({ model }) => void this.calls.push(`empty ${model}`),
    close: async ({ model }) => {
      this.calls.push(`close ${model}`);
      return { plain: 0, sealed: 0, pruned: 0 };
    },
    previewRetention: () => Promise.reject(new Error('nobody asks a run')),
    barrier: async ({ model }, _origin, end) => {
      this.calls.push(`barrier ${model}`);
      if (end?.hasSucceeded === true) this.succeeded.push(model);
      const counts = { added: this.saved.length, updated: 0, deleted: 0, unchanged: 0 };
      return { counts, partition: 0, offset: 7, failures: [], ...this.answer(model) };
    },
  };
}

/** One process with an environment, an integration `crm` and a connection `acme`. */
export interface RunWorld extends AsyncDisposable {
  readonly world: ControlWorld;
  readonly node: ControlNode;
  readonly environment: Environment;
  /** A key with full access to it. */
  readonly secret: string;
  readonly connection: Connection;
  readonly services: Services;
  readonly runs: RunsClient;
  readonly bodies: PayloadStore;
  readonly publisher: Publisher;
  readonly logs: OperationLogs;
  readonly http: HttpClient;
  readonly records: RecordedWrites;
  deploy(
    kind: FunctionKind,
    name: string,
    bundle: string,
    more?: object,
  ): Promise<DeployedFunction>;
  syncOf(name: string): SyncInstance | null;
  startRunner(sandbox: Sandbox, more?: Partial<FunctionRunnerDeps>): Promise<AsyncDisposable>;
  /** Everything on `svc.runs.v1` so far, partition by partition. */
  ledger(): Promise<RunChanged[]>;
  read<T>(topic: string): Promise<T[]>;
  orders(group: string): OperatorRequests;
}

export async function openRunWorld({
  clock = systemClock,
}: { clock?: Clock } = {}): Promise<RunWorld> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openControlWorld({ clock }));
  const owners = stack.use(await world.startOwners());
  const node = stack.use(await world.startNode({ owners }));
  const { control, vault } = node;
  const { schemas } = world.embedded;
  const { log } = world;
  const { environment, secret } = await createEnvironment(node, { name: 'dev' }, options);
  const environmentUid = environment.uid;
  await createIntegration(node, { environmentUid, uniqueKey: 'crm', provider }, options);
  const wanted = {
    environmentUid,
    integrationKey: 'crm',
    connectionId: 'acme',
    provider,
    credentials: { credentials: { type: 'API_KEY', apiKey: 'k' }, expiresAt: null },
  };
  const { connection } = await importConnection(node, wanted, options);
  const bodies = createPayloadStore({ log, schemas, vault, logger: silent });
  const ends = stack.use(await consumeRunCompletions({ log, schemas, logger: silent }));
  const direct = new DirectRuns();
  const runs = createRunsClient({ control, bodies, ends, direct });
  const publisher = createPublisher({ log, schemas, clock });
  const logs = stack.use(createOperationLogs({ publisher, logger: silent, clock }));
  const deadLetters = stack.use(
    await openDeadLetters({ log, schemas, clock, logger: silent, file: ':memory:' }),
  );
  const deliveries = stack.use(
    await openDeliveries({ log, schemas, clock, logger: silent, file: ':memory:' }),
  );
  const http = stack.use(await openHttpClient());
  const records = new RecordedWrites();
  const ground = {
    control,
    log,
    schemas,
    publisher,
    deadLetters,
    mailer: null,
    deliveries,
    incoming: stack.use(
      await openIncoming({ log, schemas, clock, logger: silent, file: ':memory:' }),
    ),
    connectionFinder: stack.use(createConnectionFinder({ control, vault })),
    providerKeys: createProviderKeys({ http, clock }),
    tables: { queryRows: () => Promise.reject(new Error('there are no tables here')) },
    vault,
    rootKeys: vault,
    providers: { find: () => provider, all: () => [provider] },
    demo: null,
    coordination: node.coordination,
    http,
    logs,
    audit: stack.use(createAuditRecorder({ control, clock, logger: silent })),
    ...uncounted,
    clock,
    logger: silent,
  };
  const refresher = createRefresher(ground);
  const services: Services = {
    ...ground,
    recordReaders: findRecordReaders(control),
    ...createDependents({ ...ground, runs, records: { writer: records.writer } }),
    projections,
    refresher,
    openedConnections: stack.use(createDecryptedConnectionCache({ ...ground, refresher })),
    records: { reader: aReader, writer: records.writer },
    readableRuns: createReadableRuns({ log, reader: aReader }),
    runs,
    settings: {
      publicUrl: 'http://localhost',
      rateLimitPerMinute: 0,
      isReadOnly: false,
      proxyTimeoutSeconds: 3600,
      webhookRateLimit: 'count',
      webhookUnsignedMbPerHour: 64,
      version: '0',
      floor: '0',
      partitions: 4,
      topicPrefix: 'svc',
      connectOrigins: [],
    },
    readiness: () => [],
  };
  const opened = stack.move();
  const orders = (group: string) => openOperatorRequests(services, group);

  const read = async <T>(topic: string): Promise<T[]> => {
    const codec = await schemas.codec<T>(topic);
    const values: T[] = [];
    for (let partition = 0; partition < (await log.partitions(topic)); partition += 1) {
      for await (const batch of log.read({ topic, partition, offset: 0 })) {
        for (const { value } of batch.messages)
          if (value !== null) values.push(codec.decode(value));
      }
    }
    return values;
  };

  return {
    world,
    node,
    environment,
    secret,
    connection,
    runs,
    bodies,
    publisher,
    logs,
    http,
    records,
    orders,
    read,
    ledger: () => read<RunChanged>('svc.runs.v1'),
    syncOf: (name) => {
      const ref = syncRef([environmentUid, 'crm', 'acme'], name, 'base');
      return control.view.find<SyncInstance>('sync', ref.path);
    },
    async deploy(kind, name, bundle, more = {}) {
      const parts = { ...aFunction, environmentUid, integrationKey: 'crm', kind, name, bundle };
      const body = { type: 'Deploy', parts: { ...parts, contentHash: bundle, ...more } };
      const ref = functionRef(environmentUid, 'crm', kind, name);
      const deployed = await control.execute<DeployedFunction>(ref, body, options);
      if (deployed === null) throw new Error('not deployed');
      return deployed;
    },
    services,
    startRunner: (sandbox, more = {}) =>
      startFunctionRunner({
        log,
        schemas,
        control,
        records: records.writer,
        sandbox,
        bodies,
        direct,
        coordination: node.coordination,
        logs,
        timelines: opened.use(createTimelines({ publisher, clock, logger: silent })),
        clock,
        logger: silent,
        orders: orders('svc.runners'),
        openHost: (run) => openHost(services, run),
        ...more,
      }),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

const none = () => Promise.reject(new Error('not used here'));
const aReader: RecordReader = {
  page: none,
  positionOf: none,
  published: none,
  reached: none,
  counts: async (streams) => new Map(streams.map(({ model }) => [model, 3])),
};

const aFunction = {
  description: 'a function',
  version: '1',
  source: '',
  models: [],
  jsonSchema: {},
  inputModel: null,
  scopes: [],
  features: [],
  frequency: null,
  autoStart: false,
  trackDeletes: false,
  syncType: 'full',
  webhookSubscriptions: [],
  event: null,
} as const;

export const refOfConnection = ({ environmentUid, integrationKey, connectionId }: Connection) =>
  connectionRef(environmentUid, integrationKey, connectionId);
