import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import { createHttpClient } from '#adapters/http-client/undici.ts';
import { connectRecordReader } from '#adapters/projection-store/reader-rpc.ts';
import { connectProjectionStore } from '#adapters/projection-store/store-rpc.ts';
import { connectInProcessOwners } from '#adapters/threads/owners-rpc.ts';
import type { Services } from '#api/services.ts';
import { createControlPlane } from '#control-plane/client.ts';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import { createPublisher } from '#control-plane/publisher.ts';
import { openReplies, type Replies } from '#control-plane/replies.ts';
import { openControlView, type OpenControlView } from '#control-plane/view.ts';
import { createAuditRecorder } from '#modules/access/audit/recorder.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { SealedEntities, AddressSettings, SignInSettings } from '#modules/access/services.ts';
import { missingRoots, openVault, type RootKeyRing } from '#modules/access/vault/open-vault.ts';
import { createDecryptedConnectionCache } from '#modules/connections/connections/decrypt-for-call.ts';
import { createRefresher } from '#modules/connections/connections/refresh.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import { addedTopics, extensions } from '#modules/extensions/registered.ts';
import type { FindRecordReaders } from '#modules/functions/functions/record-readers.ts';
import type { RunsClient } from '#modules/functions/runs/invocation/client.ts';
import { createRunsClient } from '#modules/functions/runs/invocation/create-client.ts';
import { DirectRuns } from '#modules/functions/runs/invocation/direct-runs.ts';
import {
  createPayloadStore,
  type PayloadStore,
} from '#modules/functions/runs/invocation/payload-store.ts';
import { consumeRunCompletions } from '#modules/functions/runs/invocation/run-completions.ts';
import { createDeclaredModels } from '#modules/functions/syncs/queries.ts';
import { openDeadLetters, type DeadLetters } from '#modules/operations/dead-letters/view.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { collect } from '#modules/operations/metrics/collect.ts';
import { countOperation } from '#modules/operations/metrics/routes.ts';
import type { ProcessReports } from '#modules/operations/services.ts';
import { createReadableRuns } from '#modules/records/read/readable.ts';
import type { DeclaredModels } from '#modules/records/services.ts';
import { createRecordWriter } from '#modules/records/write/create-writer.ts';
import {
  createConnectionFinder,
  type ConnectionFinder,
} from '#modules/webhooks/webhooks-in/find-connections.ts';
import {
  openIncoming,
  type IncomingWebhooks,
} from '#modules/webhooks/webhooks-in/incoming-store.ts';
import {
  createProviderKeys,
  type ProviderKeys,
} from '#modules/webhooks/webhooks-in/verify-token.ts';
import { openDeliveries, type Deliveries } from '#modules/webhooks/webhooks-out/deliveries.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { Mailer } from '#ports/mailer.ts';
import type { OperationOutcome } from '#ports/operation-log.ts';
import type { Config } from '../config/config.ts';
import { release } from '../config/version.ts';
import { definitions } from '../process/entities.ts';
import { createFaultPoint } from '../process/fault-points.ts';
import { traceHttpClient } from '../process/open-tracing.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { projections } from '../process/projections.ts';
import type { RunningThread } from '../threads/start-thread.ts';
import type { Threads } from '../threads/start-threads.ts';
import { addProviders } from './added-providers.ts';
import { createDependents, findRecordReaders } from './dependents.ts';
import { scraped } from './scrape.ts';

/** The services of the roles api, runner and webhooks. */
export interface OpenedServices {
  readonly services: Services;
  readonly payloads: PayloadStore;
  readonly direct: DirectRuns;
}

interface ServicePorts {
  readonly coordination: Coordination;
  readonly readiness: ProcessReports['readiness'];
  readonly providers: ProviderCatalogue;
}

/** Opens this node's view of the control plane and the services based on it. */
export async function openServices(
  stack: AsyncDisposableStack,
  base: ProcessContext,
  { projection, owners, all }: Threads & { readonly projection: RunningThread },
  ports: ServicePorts,
): Promise<OpenedServices> {
  const { coordination, readiness } = ports;
  const { config, clock, logger, rootKeys } = base;
  const { log, schemas } = base.log;
  const faultPoint = createFaultPoint(config.faultPoint);
  const newCipher = createAesGcm;
  const vault = stack.use(
    await openVault({ log, schemas, rootKeys, newCipher, clock, logger, faultPoint }),
  );
  const settings = settingsOf(config);
  const replies = stack.use(await openReplies({ log, schemas, node: base.node, logger }));
  const { view, control } = await openControl(stack, base, replies, owners);
  const payloadMode = (uid: string) => view.find(environmentRef(uid))?.payloadMode ?? 'plain';
  const records = { log, schemas, replies, vault, clock, payloadMode, faultPoint };
  const writer = await createRecordWriter(records);
  const publisher = createPublisher({ log, schemas, clock });
  const { runs, payloads, direct } = await openRuns(stack, base, { control, vault });
  const context = {
    control,
    log,
    schemas,
    publisher,
    deadLetters: await openDeadLetterView(stack, base),
    ...(await openWaysToPeople(stack, config)),
    ...(await openWebhooks(stack, base)),
    ...(await openWayOut(stack, base, { ...ports, control, vault, settings })),
    tables: connectProjectionStore(projection.peer),
    vault,
    rootKeys: vault,
    coordination,
    logs: stack.use(createOperationLogs({ publisher, logger, clock, ended: counting(base) })),
    audit: stack.use(createAuditRecorder({ control, clock, logger })),
    clock,
    logger,
  };
  const refresher = createRefresher({ ...context, faultPoint });
  const reader = connectRecordReader(projection.peer, clock);
  const services: Services = {
    ...context,
    refresher,
    openedConnections: stack.use(createDecryptedConnectionCache({ ...context, refresher })),
    records: { writer, reader },
    readableRuns: createReadableRuns({ log, reader }),
    runs,
    ...openModelLookups(stack, control),
    ...createDependents({ ...context, runs, records: { writer } }),
    projections,
    addedTopics,
    settings,
    metrics: base.metrics,
    scrape: () => collected(base, services, all),
    readiness: () => [...readiness(), ...missingRootKeys(vault)],
  };
  return { services, payloads, direct };
}

/** Who reads a model, and which models functions declare. */
const openModelLookups = (
  stack: AsyncDisposableStack,
  control: ControlPlane,
): { readonly recordReaders: FindRecordReaders; readonly declaredModels: DeclaredModels } => ({
  recordReaders: findRecordReaders(control),
  declaredModels: stack.use(createDeclaredModels(control)),
});

async function openRuns(
  stack: AsyncDisposableStack,
  { logger, log: { log, schemas } }: ProcessContext,
  { control, vault }: SealedEntities,
): Promise<{ readonly runs: RunsClient } & Omit<OpenedServices, 'services'>> {
  const ends = stack.use(await consumeRunCompletions({ log, schemas, logger }));
  const payloads = createPayloadStore({ log, schemas, vault, logger });
  const direct = new DirectRuns();
  return { runs: createRunsClient({ control, payloads, ends, direct }), payloads, direct };
}

async function openControl(
  stack: AsyncDisposableStack,
  context: ProcessContext,
  replies: Replies,
  owners: RunningThread | null,
): Promise<{ readonly view: OpenControlView; readonly control: ControlPlane }> {
  const { clock, logger, folders } = context;
  const deps = { ...context.log, clock, logger };
  const file = `${folders.views}/control.sqlite`;
  const view = stack.use(await openControlView({ ...deps, file, definitions }));
  const direct = owners === null ? null : connectInProcessOwners(owners.peer);
  const control = await createControlPlane({ ...deps, view, replies, owners: direct });
  return { view, control };
}

async function collected(
  { metrics }: ProcessContext,
  services: Services,
  threads: readonly RunningThread[],
): ReturnType<ProcessReports['scrape']> {
  await collect(services, metrics);
  return scraped(metrics, threads);
}

const counting = ({ metrics }: ProcessContext) => {
  return (outcome: OperationOutcome): void => countOperation(metrics, outcome);
};

const missingRootKeys = (keys: RootKeyRing): string[] =>
  missingRoots(keys.use()).map(
    ({ id, keys: count }) =>
      `SVC_ENCRYPTION_KEY lacks the root key ${id}, which wraps ${count} data keys`,
  );

const settingsOf = (config: Config): Services['settings'] => ({
  publicUrl: config.publicUrl ?? '',
  connectOrigins: config.connectOrigins,
  rateLimitPerMinute: config.rateLimitPerMinute,
  isReadOnly: config.readOnly === 'yes',
  proxyTimeoutSeconds: config.proxyTimeoutSeconds,
  webhookRateLimit: config.webhookRateLimit,
  webhookUnsignedMbPerHour: config.webhookUnsignedMbPerHour,
  ...release(),
  partitions: config.partitions,
  topicPrefix: config.topicPrefix,
});

async function openDeadLetterView(
  stack: AsyncDisposableStack,
  context: ProcessContext,
): Promise<DeadLetters> {
  const { clock, logger, folders } = context;
  const file = `${folders.views}/dead-letters.sqlite`;
  return stack.use(await openDeadLetters({ ...context.log, clock, logger, file }));
}

/** How people are reached and sign in. */
const openWaysToPeople = async (
  stack: AsyncDisposableStack,
  config: Config,
): Promise<{ readonly mailer: Mailer | null; readonly signIn: SignInSettings | null }> => ({
  mailer: await openMailer(stack, config),
  signIn: await openSignIn(stack, config),
});

/** Loads the mail client only if there is a mail server. */
async function openMailer(
  stack: AsyncDisposableStack,
  { smtpUrl, smtpFrom }: Config,
): Promise<Mailer | null> {
  if (smtpUrl === null) return null;
  const { createSmtpMailer } = await import('#adapters/mail/smtp.ts');
  return stack.use(createSmtpMailer(smtpUrl, smtpFrom));
}

/** Loads the client of identity providers only if there is one. */
async function openSignIn(
  stack: AsyncDisposableStack,
  config: Config,
): Promise<SignInSettings | null> {
  const { oidcIssuer, oidcClientId, egressAllow } = config;
  if (oidcIssuer === null || oidcClientId === null) return null;
  const { createOpenIdProvider } = await import('#adapters/identity-provider/openid.ts');
  const { hostname, port, protocol } = new URL(oidcIssuer);
  // The operator has named the issuer; other addresses of it need SVC_EGRESS_ALLOW if they are private.
  const address = `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
  const http = createHttpClient({ allow: [...egressAllow, address] });
  const settings = {
    issuer: oidcIssuer,
    clientId: oidcClientId,
    clientSecret: config.oidcClientSecret,
    scopes: config.oidcScopes,
    groupsClaim: config.oidcGroupsClaim,
    name: config.oidcName,
  };
  return {
    provider: stack.use(createOpenIdProvider(settings, http)),
    groupRoles: config.oidcRoles,
    isEmailTrusted: config.oidcTrustEmail === 'yes',
  };
}

/** The HTTP client for providers, the catalog with the providers of optional parts, and what verifies webhooks of providers. */
async function openWayOut(
  stack: AsyncDisposableStack,
  base: ProcessContext,
  supplied: SealedEntities & {
    readonly providers: ProviderCatalogue;
    readonly settings: AddressSettings;
  },
): Promise<{
  readonly http: HttpClient;
  readonly connectionFinder: ConnectionFinder;
  readonly providerKeys: ProviderKeys;
  readonly addedProviders: ReadonlySet<string>;
  readonly providers: ProviderCatalogue;
}> {
  const { config, clock, logger, tracing } = base;
  const gatewayUrl = (): string => supplied.settings.publicUrl;
  const { allow, ...catalogue } = await addProviders(
    stack,
    { config, extensions },
    { ...supplied, clock, logger, gatewayUrl },
  );
  const client = stack.use(createHttpClient({ allow: [...config.egressAllow, ...allow] }));
  const http = tracing === null ? client : traceHttpClient(client);
  const deps = { ...supplied, clock };
  const connectionFinder = stack.use(createConnectionFinder(deps));
  return {
    ...catalogue,
    http,
    connectionFinder,
    providerKeys: createProviderKeys({ ...deps, http }),
  };
}

async function openWebhooks(
  stack: AsyncDisposableStack,
  context: ProcessContext,
): Promise<{ readonly deliveries: Deliveries; readonly incoming: IncomingWebhooks }> {
  const { clock, logger, folders } = context;
  const deps = { ...context.log, clock, logger };
  const file = (name: string): string => `${folders.views}/${name}.sqlite`;
  return {
    deliveries: stack.use(await openDeliveries({ ...deps, file: file('webhooks-out') })),
    incoming: stack.use(await openIncoming({ ...deps, file: file('webhooks-in') })),
  };
}
