import { createHealthServer } from '#api/health-server.ts';
import { startApiServer } from '#api/request-pipeline.ts';
import { routes, streamRoutes } from '#api/routes.ts';
import type { Services } from '#api/services.ts';
import { createCode, defaultKeys, signInUrl } from '#modules/access/console-codes/handlers.ts';
import { bootstrap } from '#modules/access/environments/handlers.ts';
import type { ProviderCatalogue } from '#modules/connections/providers/catalogue.ts';
import { loadCatalogue } from '#modules/connections/providers/load-catalogue.ts';
import type { ProcessReports } from '#modules/operations/services.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { Config } from '../config/config.ts';
import { addressProblem } from '../process/bind-address.ts';
import type { ProcessContext } from '../process/process-context.ts';
import { retryStartup } from '../process/retry-startup.ts';
import type { Threads } from '../threads/start-threads.ts';
import { isOnlyLocal } from './added-providers.ts';
import { openServices, type OpenedServices } from './open-services.ts';
import { startReactors } from './reactors.ts';
import { scraped } from './scrape.ts';

interface GeneratedKey {
  /** Name of the environment, or `account`. */
  readonly name: string;
  readonly secret: string;
}

/** What the roles of this process do in the main thread. */
export interface OpenedRoles {
  /** Where the HTTP API listens; without the role api only `/health` and `/ready`. */
  readonly url: string;
  /** What the first start generated, to be shown once; keys from the settings are not included. */
  readonly generatedKeys: readonly GeneratedKey[];
  /** An address that signs a browser in to the console once; null unless only this machine can open it. */
  readonly consoleUrl: string | null;
  /** Null if no role needs them: in owners and projectors. */
  readonly services: Services | null;
}

interface Input {
  readonly coordination: Coordination;
  readonly readiness: ProcessReports['readiness'];
  /** What `loadProviders` has returned; null: not called yet. */
  readonly providers: ProviderCatalogue | null;
}

/**
 * Null if no role needs them.
 * @throws CannotStart with every mistake of the overlay
 */
export const loadProviders = (config: Config): ProviderCatalogue | null =>
  usesServices(config) ? loadCatalogue({ overlayPath: config.providers }) : null;

/** Opens services, reactors and the server. */
export async function openRoles(
  stack: AsyncDisposableStack,
  context: ProcessContext,
  threads: Threads,
  input: Input,
): Promise<OpenedRoles> {
  const { config, metrics } = context;
  const opened = await openForRoles(stack, context, threads, input);
  // A process that only reads starts no work, and makes neither keys nor codes.
  const working = config.readOnly === 'yes' ? null : opened;
  // Closed concurrently with the server, so that requests that wait for a run end.
  const reactors = stack.use(new AsyncDisposableStack());
  if (working !== null) await startReactors(reactors, context, working);
  const scrape = () => scraped(metrics, threads.all);
  const { readiness } = input;
  const served = serve(config, opened?.services ?? null, { readiness, scrape });
  const server = await served.catch((error: unknown) => {
    throw addressProblem(error, config) ?? error;
  });
  stack.defer(async () => {
    await Promise.all([server[Symbol.asyncDispose](), reactors.disposeAsync()]);
  });
  // Keys are shown once, so that none are generated before the address is bound.
  const generatedKeys = working === null ? [] : await generatedKeysOf(context, working);
  const consoleUrl = working === null ? null : await consoleUrlOf(config, working.services);
  return { url: server.url, generatedKeys, consoleUrl, services: opened?.services ?? null };
}

const usesServices = ({ roles }: Config): boolean =>
  roles.has('api') || roles.has('runner') || roles.has('webhooks');

async function openForRoles(
  stack: AsyncDisposableStack,
  context: ProcessContext,
  threads: Threads,
  input: Input,
): Promise<OpenedServices | null> {
  const { projection } = threads;
  const providers = input.providers ?? loadProviders(context.config);
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
  const secretValues: ReadonlySet<string | null> = new Set(Object.values(secrets));
  const keys = [...made.environments, { name: 'account', secret: made.accountKey }];
  return keys.filter(({ secret }) => !secretValues.has(secret));
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
  { readiness, scrape }: ProcessReports,
): Promise<AsyncDisposable & { readonly url: string }> {
  if (!roles.has('api') || services === null) {
    const ready = () => services?.readiness() ?? readiness();
    return createHealthServer({ readiness: ready, scrape, host, port });
  }
  const server = await startApiServer({ routes, streamRoutes, services, host, port });
  services.settings.publicUrl ||= server.url;
  return server;
}
