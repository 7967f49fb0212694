import { createHttpClient } from '#adapters/http-client/undici.ts';
import { startApiServer } from '#api/request-pipeline.ts';
import { routes, streamRoutes } from '#api/routes.ts';
import type { Services } from '#api/services.ts';
import { createDependents } from '#app/roles/dependents.ts';
import { createPublisher } from '#control-plane/publisher.ts';
import type { HttpServer } from '#http/server.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { createKey } from '#modules/access/api-keys/handlers.ts';
import { createAuditRecorder } from '#modules/access/audit/recorder.ts';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import type { SignInSettings } from '#modules/access/services.ts';
import { createDecryptedConnectionCache } from '#modules/connections/connections/decrypt-for-call.ts';
import { createRefresher } from '#modules/connections/connections/refresh.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import { addedTopics } from '#modules/extensions/registered.ts';
import { openDeadLetters } from '#modules/operations/dead-letters/view.ts';
import { createOperationLogs } from '#modules/operations/logs/operation-log.ts';
import { createConnectionFinder } from '#modules/webhooks/webhooks-in/find-connections.ts';
import { openIncoming } from '#modules/webhooks/webhooks-in/incoming-store.ts';
import { createProviderKeys } from '#modules/webhooks/webhooks-in/verify-token.ts';
import { openDeliveries } from '#modules/webhooks/webhooks-out/deliveries.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Mailer } from '#ports/mailer.ts';
import { uncounted } from '../fakes/metrics.ts';
import { checkAnswer } from '../judges/answers.ts';
import { builtInCatalogue } from './catalogue.ts';
import { openControlWorld, silent, type ControlWorld } from './control.ts';

export interface Api extends AsyncDisposable {
  readonly url: string;
  readonly services: Services;
  /** Full access keys of the environments dev and prod, and of the account. */
  readonly keys: { readonly dev: string; readonly prod: string; readonly account: string };
  call(method: string, path: string, options?: CallOptions): Promise<ApiAnswer>;
  /** One more node on the same log; resolves with its URL. */
  startAnother(): Promise<string>;
}

export interface CallOptions {
  readonly key?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface ApiAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
  /** What stands in the body at a path such as `data.0.id`. */
  at(path: string): unknown;
}

/** Status and error code: `404 not_found`; `200 ` of a success. */
export const codeOf = (answer: ApiAnswer): string =>
  `${answer.status} ${(answer.at('error.code') as string | undefined) ?? ''}`;

interface ApiOptions {
  readonly overlayPath?: string | null;
  readonly egressAllow?: readonly string[];
  readonly connectOrigins?: readonly string[];
  /** Default: in process. */
  readonly coordination?: Coordination;
  /** Default: none. */
  readonly rateLimitPerMinute?: number;
  /** Default: counted only. */
  readonly webhookRateLimit?: 'count' | 'enforce';
  /** Default: none. */
  readonly mailer?: Mailer;
  /** Default: none. */
  readonly signIn?: SignInSettings;
  /** Of everything behind the API, the owners too. */
  readonly clock?: Clock;
}

/**
 * The HTTP API over a real control plane on an embedded log, without records, functions and runs: what
 * needs those is tested with the whole gateway.
 */
export async function startApi(options: ApiOptions = {}): Promise<Api> {
  await using stack = new AsyncDisposableStack();
  const { clock = systemClock } = options;
  const world = stack.use(await openControlWorld({ clock }));
  stack.use(await world.startOwners());
  const openOne = (): Promise<ApiNode> => openNode(world, { ...options, clock });
  const { services, server } = stack.use(await openOne());
  const as = { actor: 'system' };
  const { vault } = services;
  await vault.create('account');
  const dev = await createEnvironment(services, { name: 'dev' }, as);
  const prod = await createEnvironment(services, { name: 'prod' }, as);
  const account = await createKey(services, { environmentUid: null, displayName: 'test' }, as);
  const keys = { dev: dev.secret, prod: prod.secret, account: account.secret };

  const opened = stack.move();
  return {
    url: server.url,
    services,
    keys,
    startAnother: async () => opened.use(await openOne()).server.url,
    async call(method, path, { key = keys.dev, body, headers = {} } = {}) {
      const response = await fetch(server.url + path, {
        method,
        headers: {
          authorization: `Bearer ${key}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      checkAnswer(method, path, { status: response.status, headers: response.headers, text });
      const answer = text === '' ? undefined : (JSON.parse(text) as unknown);
      return {
        status: response.status,
        headers: response.headers,
        body: answer,
        at: (wanted) => valueAt(answer, wanted),
      };
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface ApiNode extends AsyncDisposable {
  readonly services: Services;
  readonly server: HttpServer;
}

/** A node with a view of its own, and the API over it. */
async function openNode(
  world: ControlWorld,
  options: ApiOptions & { readonly clock: Clock },
): Promise<ApiNode> {
  await using stack = new AsyncDisposableStack();
  const node = stack.use(await world.startNode());
  const { control, vault } = node;
  const http = stack.use(createHttpClient({ allow: options.egressAllow ?? [] }));
  const { log, embedded } = world;
  const { schemas } = embedded;
  const { clock } = options;
  const ports = { log, schemas, clock };
  const publisher = createPublisher(ports);
  const deadLetters = stack.use(
    await openDeadLetters({ ...ports, logger: silent, file: ':memory:' }),
  );
  const deliveries = stack.use(
    await openDeliveries({ ...ports, logger: silent, file: ':memory:' }),
  );
  const ground = {
    control,
    log,
    schemas,
    publisher,
    deadLetters,
    mailer: options.mailer ?? null,
    signIn: options.signIn ?? null,
    addedProviders: new Set<string>(),
    addedTopics,
    deliveries,
    incoming: stack.use(await openIncoming({ ...ports, logger: silent, file: ':memory:' })),
    connectionFinder: stack.use(createConnectionFinder({ control, vault })),
    providerKeys: createProviderKeys({ http, clock }),
    vault,
    rootKeys: vault,
    coordination: options.coordination ?? node.coordination,
    http,
    providers:
      options.overlayPath === undefined
        ? builtInCatalogue()
        : loadCatalogue({ overlayPath: options.overlayPath }),
    logs: stack.use(createOperationLogs({ publisher, logger: silent, clock })),
    audit: stack.use(createAuditRecorder({ control, clock, logger: silent })),
    ...uncounted,
    clock,
    logger: silent,
  };
  const refresher = createRefresher(ground);
  const leftOut = { runs: null as never, records: { writer: null as never } };
  const services = {
    ...ground,
    ...createDependents({ ...ground, ...leftOut }),
    refresher,
    openedConnections: stack.use(createDecryptedConnectionCache({ ...ground, refresher })),
    settings: {
      publicUrl: 'http://gateway.test',
      connectOrigins: options.connectOrigins ?? [],
      rateLimitPerMinute: options.rateLimitPerMinute ?? 0,
      isReadOnly: false,
      webhookRateLimit: options.webhookRateLimit ?? 'count',
      webhookUnsignedMbPerHour: 64,
      version: '0.0.0',
      floor: '0.0.0',
      partitions: 4,
      topicPrefix: 'svc',
    },
    readiness: () => [],
    // Records, functions and runs are left out: see above.
  } as unknown as Services;
  const server = stack.use(
    await startApiServer({
      routes,
      streamRoutes,
      services,
      host: '127.0.0.1',
      port: 0,
      closeWithinMs: 1000,
    }),
  );
  const opened = stack.move();
  return { services, server, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function valueAt(value: unknown, path: string): unknown {
  return path.split('.').reduce((inner: unknown, name) => {
    return (inner as Record<string, unknown> | null | undefined)?.[name];
  }, value);
}
