import { setTimeout as wait } from 'node:timers/promises';
import type { Services } from '#api/services.ts';
import { projections } from '#app/process/projections.ts';
import { createDependents, findRecordReaders } from '#app/roles/dependents.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { createPublisher, type Publisher } from '#control-plane/publisher.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { createAuditRecorder } from '#modules/access/audit/recorder.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import { createDecryptedConnectionCache } from '#modules/connections/connections/decrypt-for-call.ts';
import { connectionRef } from '#modules/connections/connections/entity.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { createRefresher } from '#modules/connections/connections/refresh.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import { addedTopics } from '#modules/extensions/registered.ts';
import { functionRef, type FunctionEntity } from '#modules/functions/functions/entity.ts';
import type { DeployedFunction, FunctionKind } from '#modules/functions/functions/function.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { createRunsClient } from '#modules/functions/runs/invocation/create-client.ts';
import { DirectRuns } from '#modules/functions/runs/invocation/direct-runs.ts';
import {
  createPayloadStore,
  type PayloadStore,
} from '#modules/functions/runs/invocation/payload-store.ts';
import { consumeRunCompletions } from '#modules/functions/runs/invocation/run-completions.ts';
import type { RunChanged } from '#modules/functions/runs/ledger/events.ts';
import { createTimelines } from '#modules/functions/runs/ledger/timeline.ts';
import {
  startFunctionRunner,
  type FunctionRunnerDeps,
} from '#modules/functions/runs/runner/function-run.ts';
import { openHost } from '#modules/functions/runs/runtime/open-host.ts';
import { syncRef } from '#modules/functions/syncs/entity.ts';
import { createDeclaredModels } from '#modules/functions/syncs/queries.ts';
import type { SyncInstance } from '#modules/functions/syncs/state.ts';
import { openOperatorRequests } from '#modules/operations/consumer-groups/handlers.ts';
import { openDeadLetters } from '#modules/operations/dead-letters/view.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { createReadableRuns } from '#modules/records/read/readable.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { BarrierAnswer, RecordWriter } from '#modules/records/write/writer.ts';
import { createConnectionFinder } from '#modules/webhooks/webhooks-in/find-connections.ts';
import { openIncoming } from '#modules/webhooks/webhooks-in/incoming-store.ts';
import { createProviderKeys } from '#modules/webhooks/webhooks-in/verify-token.ts';
import { openDeliveries } from '#modules/webhooks/webhooks-out/deliveries.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import type { Sandbox } from '#ports/sandbox.ts';
import type { OperatorRequests } from '#streams/reactor/reactor.ts';
import { aFunction } from '../fakes/a-function.ts';
import { uncounted } from '../fakes/metrics.ts';
import { openHttpClient } from '../fakes/webhook-receiver.ts';
import {
  aProvider,
  openControlWorld,
  silent,
  type ControlNode,
  type ControlWorld,
} from './control.ts';

const noTables = (): Promise<never> => Promise.reject(new Error('there are no tables here'));

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
  readonly payloads: PayloadStore;
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
  operatorRequests(group: string): OperatorRequests;
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
  const payloads = createPayloadStore({ log, schemas, vault, logger: silent });
  const ends = stack.use(await consumeRunCompletions({ log, schemas, logger: silent }));
  const direct = new DirectRuns();
  const runs = createRunsClient({ control, payloads, ends, direct });
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
    signIn: null,
    deliveries,
    incoming: stack.use(
      await openIncoming({ log, schemas, clock, logger: silent, file: ':memory:' }),
    ),
    connectionFinder: stack.use(createConnectionFinder({ control, vault })),
    providerKeys: createProviderKeys({ http, clock }),
    tables: {
      queryRows: noTables,
      showViews: noTables,
      shownScopes: noTables,
      dropViews: noTables,
      runCallerQuery: noTables,
    },
    vault,
    rootKeys: vault,
    providers: { find: () => provider, all: () => [provider] },
    addedProviders: new Set<string>(),
    addedTopics,
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
    declaredModels: stack.use(createDeclaredModels(control)),
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
  const operatorRequests = (group: string) => openOperatorRequests(services, group);

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
    payloads,
    publisher,
    logs,
    http,
    records,
    operatorRequests,
    read,
    ledger: () => read<RunChanged>('svc.runs.v1'),
    syncOf: (name) => {
      const ref = syncRef([environmentUid, 'crm', 'acme'], name, 'base');
      return control.view.find(ref);
    },
    async deploy(kind, name, bundle, more = {}) {
      const parts = { ...aFunction, environmentUid, integrationKey: 'crm', kind, name, bundle };
      const body: CommandOf<FunctionEntity> = {
        type: 'Deploy',
        parts: { ...parts, contentHash: bundle, ...more },
      };
      const ref = functionRef(environmentUid, 'crm', kind, name);
      const deployed = await control.execute(ref, body, options);
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
        payloads,
        direct,
        coordination: node.coordination,
        logs,
        timelines: opened.use(createTimelines({ publisher, clock, logger: silent })),
        clock,
        logger: silent,
        operatorRequests: operatorRequests('svc.runners'),
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

export const refOfConnection = ({ environmentUid, integrationKey, connectionId }: Connection) =>
  connectionRef(environmentUid, integrationKey, connectionId);
