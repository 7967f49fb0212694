/* oxlint-disable typescript/no-unsafe-member-access, typescript/no-unsafe-return --
   a test looks into any answer, and expect.any() is anything */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';
import {
  definitionsOf,
  openFakeProvider,
  type Account,
  type FakeProvider,
} from '../fakes/fake-provider.ts';
import {
  openWebhookReceiver,
  type Received,
  type WebhookReceiver,
} from '../fakes/webhook-receiver.ts';
import { sayWhenLate } from '../judges/late.ts';
import { deploymentEnv, isOnServices } from '../processes/deployment.ts';
import {
  accessTo,
  startGateway,
  type Answer,
  type GatewayAccess,
  type RunningGateway,
} from '../processes/gateway.ts';
import { compiledFunctions } from './deploy.ts';
import { sharedGateway } from './shared-gateways.ts';

const integration = 'crm';

/** An environment with functions deployed, their provider, and a receiver of webhooks. */
export interface SharedCrmWorld extends AsyncDisposable {
  readonly gateway: GatewayAccess;
  readonly provider: FakeProvider;
  readonly receiver: WebhookReceiver;
  /** Key that the webhooks of the environment are signed with. */
  readonly signingKey: string;
  readonly environmentId: number;
  readonly environmentName: string;
  /** A new connection of the integration `crm` with an account of its own. */
  connect(more?: object): Promise<CrmConnection>;
}

/** The same in a gateway of its own, which the test may stop. */
export interface CrmWorld extends SharedCrmWorld {
  readonly gateway: RunningGateway;
  /**
   * SIGTERM, then a new process over the same data, with `more` settings; `meanwhile` has the data folder for itself.
   * Resolves with the exit code.
   */
  restart(
    meanwhile?: (dataDir: string) => Promise<void>,
    more?: Readonly<Record<string, string>>,
  ): Promise<number | null>;
  /** One more gateway with the settings of the first, over another data folder or after the first has stopped. */
  startOn(
    dataDir: string,
    more?: Readonly<Record<string, string>>,
    within?: readonly string[],
  ): Promise<RunningGateway>;
  /** One more gateway on the same log, with a data folder of its own: only with services. */
  startAnother(more?: Readonly<Record<string, string>>, earlier?: string): Promise<RunningGateway>;
  /** The processes of the option `beside`, in its order. */
  readonly beside: readonly RunningGateway[];
}

export interface CrmConnection {
  readonly id: string;
  readonly account: Account;
  /** Both headers that name the connection. */
  readonly headers: Readonly<Record<string, string>>;
  trigger(sync: string, more?: object): Promise<Answer>;
  /** Triggers the sync and resolves with the webhook of its end (of the model, where it has several). */
  run(
    sync: string,
    options?: { readonly more?: object; readonly model?: string },
  ): Promise<SyncHook>;
  /** The nth webhook of the sync on the primary URL, from 1. */
  webhook(sync: string, nth: number, model?: string): Promise<SyncHook>;
  webhooks(sync: string, model?: string): Received[];
  records(model: string, query?: Readonly<Record<string, string>>): Promise<Page>;
  /** Every page from the cursor on. */
  all(model: string, cursor?: string | null, variant?: string): Promise<Page['records']>;
  action(
    name: string,
    input?: unknown,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
  /** `GET /connections/{id}`. */
  readonly shown: () => Promise<Answer['body']>;
  readonly status: (sync: string) => Promise<Answer['body']>;
}

/** The payload of a sync webhook. */
export interface SyncHook {
  readonly success: boolean;
  readonly responseResults: { added: number; updated: number; deleted: number };
  readonly error: { readonly type: string; readonly description: string };
  readonly [field: string]: unknown;
}

export interface Page {
  readonly records: (Record<string, unknown> & { id: string; _svc_metadata: Meta })[];
  readonly next_cursor: string | null;
}

interface Meta {
  readonly first_seen_at: string;
  readonly last_modified_at: string;
  readonly last_action: 'ADDED' | 'UPDATED' | 'DELETED';
  readonly deleted_at: string | null;
  readonly pruned_at?: string;
  readonly cursor: string;
}

export async function openCrmWorld(
  options: {
    readonly apiKey?: string;
    readonly env?: Readonly<Record<string, string>>;
    /** Settings of each process that runs beside the first on the same log: only with services. */
    readonly beside?: readonly Readonly<Record<string, string>>[];
    /** Definitions beside those of the fake provider, and the hosts that they lead to. */
    readonly definitions?: object;
    /** Definitions of providers that the fake provider plays too, given its address. */
    readonly played?: (url: string) => object;
    readonly hosts?: readonly string[];
    /** The program of an earlier release (`earlierRelease`), for the first start only. */
    readonly earlier?: string;
    /** Called with the data folder before the first start. */
    readonly prepare?: (dataDir: string) => Promise<void>;
  } = {},
): Promise<CrmWorld> {
  await using stack = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'svc-crm-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  const provider = stack.use(await openFakeProvider(options.apiKey ?? `key-${randomUUID()}`));
  const receiver = stack.use(await openWebhookReceiver());
  const providers = join(folder, 'providers.json');
  await writeFile(
    providers,
    JSON.stringify({
      ...definitionsOf(provider),
      ...options.definitions,
      ...options.played?.(provider.url),
    }),
  );
  const dataDir = join(folder, 'data');
  const env = {
    SVC_PROVIDERS: providers,
    SVC_EGRESS_ALLOW: [
      provider.hostPort,
      new URL(receiver.url).host,
      ...(options.hosts ?? []),
    ].join(','),
    ...options.env,
  };
  await options.prepare?.(dataDir);
  const start = (more: Readonly<Record<string, string>> = {}, earlier?: string) =>
    startGateway({
      dataDir,
      env: { ...env, ...more },
      ...(earlier === undefined ? {} : { earlier }),
    });
  let others = 0;
  const startAnother = (more: Readonly<Record<string, string>> = {}, earlier?: string) => {
    if (!isOnServices()) throw new Error('the embedded log belongs to one process');
    others += 1;
    return startGateway({
      dataDir: join(folder, `data-${others}`),
      env: { ...deploymentEnv(dataDir), ...env, ...more },
      ...(earlier === undefined ? {} : { earlier }),
    });
  };
  const starting = start({}, options.earlier);
  const besides = (options.beside ?? []).map((more) => startAnother(more));
  // Stopped even where the functions do not compile.
  for (const one of [...besides, starting]) stack.defer(() => one.then((begun) => begun.stop()));
  const [functions, first, ...beside] = await Promise.all([
    compiledFunctions(),
    starting,
    ...besides,
  ]);
  let gateway = first;
  stack.defer(() => gateway.stop());
  const environment = await environmentNamed('dev', gateway);
  // The earlier release does not know the scope of several integrations.
  const scope = { reconciliationScope: { kind: 'environment' } };
  const deployed = options.earlier === undefined ? functions : { ...functions, ...scope };
  const { signingKey } = await prepare({ gateway, receiver, functions: deployed, environment });
  const opened = stack.move();
  return {
    get gateway() {
      return gateway;
    },
    provider,
    receiver,
    signingKey,
    environmentId: environment.id,
    environmentName: environment.name,
    connect: (more) => connectTo({ gateway: () => gateway, provider, receiver }, more),
    async restart(meanwhile, more) {
      await gateway.stop();
      const code = await gateway.exited;
      await meanwhile?.(gateway.dataDir);
      gateway = await start(more);
      return code;
    },
    beside,
    startOn: (folderOf, more, within = []) =>
      startGateway({ dataDir: folderOf, env: { ...env, ...more }, within }),
    startAnother,
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

/**
 * Two environments of the test's own on the gateway that the files of this worker share (functions are deployed to the
 * first); on real services a gateway of its own.
 */
export async function openSharedCrmWorld(
  options: { readonly apiKey?: string } = {},
): Promise<SharedCrmWorld> {
  if (isOnServices()) return openCrmWorld(options);
  await using stack = new AsyncDisposableStack();
  const { url, providerPort, ...keys } = await sharedGateway();
  const apiKey = options.apiKey ?? `key-${randomUUID()}`;
  const provider = stack.use(await openFakeProvider(apiKey, providerPort));
  const receiver = stack.use(await openWebhookReceiver());
  const root = accessTo(url, keys);
  const [environment, other] = await Promise.all([newEnvironment(root), newEnvironment(root)]);
  const gateway = accessTo(url, { ...keys, key: environment.key, prodKey: other.key });
  for (const { id } of [environment, other]) {
    stack.defer(async () => {
      const deleted = await root.call('DELETE', `/environments/${id}`, { key: keys.accountKey });
      succeeded(deleted);
    });
  }
  const functions = await compiledFunctions();
  const { signingKey } = await prepare({ gateway, receiver, functions, environment });
  const opened = stack.move();
  return {
    gateway,
    provider,
    receiver,
    signingKey,
    environmentId: environment.id,
    environmentName: environment.name,
    connect: (more) => connectTo({ gateway: () => gateway, provider, receiver }, more),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

interface Environment {
  readonly id: number;
  readonly name: string;
}

async function environmentNamed(name: string, gateway: GatewayAccess): Promise<Environment> {
  const listed = await gateway.call('GET', '/environments', { key: gateway.accountKey });
  const found = (succeeded(listed).data as Environment[]).find((one) => one.name === name);
  if (found === undefined) throw new Error(`no environment ${name}`);
  return found;
}

/** With a key of full access. */
async function newEnvironment(gateway: GatewayAccess): Promise<Environment & { key: string }> {
  const account = { key: gateway.accountKey };
  const body = { name: `t-${randomUUID().slice(0, 8)}` };
  const made = await gateway.call('POST', '/environments', { ...account, body });
  const { id, name } = succeeded(made).data as Environment;
  const wanted = { environment_id: id, display_name: 'test', scopes: ['environment:*'] };
  const key = await gateway.call('POST', '/environment/api-keys', { ...account, body: wanted });
  return { id, name, key: (succeeded(key).data as { secret: string }).secret };
}

async function prepare({
  gateway,
  receiver,
  functions,
  environment,
}: {
  readonly gateway: GatewayAccess;
  readonly receiver: WebhookReceiver;
  readonly functions: object;
  readonly environment: Environment;
}): Promise<{ signingKey: string }> {
  const account = { key: gateway.accountKey };
  // Webhooks of new connections are left to their own tests: here those of runs are counted.
  const urls = { webhook_url: `${receiver.url}/primary`, on_auth_creation: false };
  const settings = { ...account, body: urls };
  succeeded(await gateway.call('PATCH', `/environments/${environment.id}`, settings));
  const rotated = await gateway.call('POST', '/environment/webhook-signing-key/rotate');
  const { webhook_signing_key: signingKey } = succeeded(rotated).data as Record<string, string>;
  const body = { provider: integration, unique_key: integration };
  succeeded(await gateway.call('POST', '/integrations', { body }));
  succeeded(await gateway.call('POST', '/functions/deployments/bundle', { body: functions }));
  return { signingKey: signingKey ?? '' };
}

interface Place {
  readonly gateway: () => GatewayAccess;
  readonly provider: FakeProvider;
  readonly receiver: WebhookReceiver;
}

async function connectTo(
  { gateway, provider, receiver }: Place,
  more: object = {},
): Promise<CrmConnection> {
  const id = `c-${randomUUID()}`;
  const body = {
    provider_config_key: integration,
    connection_id: id,
    connection_config: { account: id },
    credentials: { type: 'API_KEY', apiKey: provider.apiKey },
    ...more,
  };
  succeeded(await gateway().call('POST', '/connections', { body }));
  return connectionOf(gateway, { id, account: provider.account(id), receiver });
}

/** The body of an answer of 2xx. @throws Error with the answer otherwise */
export function succeeded({ status, body }: Answer): Answer['body'] {
  if (status >= 200 && status < 300) return body;
  throw new Error(`answered ${status}: ${JSON.stringify(body)}`);
}

function connectionOf(
  gateway: () => GatewayAccess,
  { id, account, receiver }: Pick<CrmConnection, 'id' | 'account'> & { receiver: WebhookReceiver },
): CrmConnection {
  const headers = { 'provider-config-key': integration, 'connection-id': id };
  const name = { provider_config_key: integration, connection_id: id };
  const webhooks = (sync: string, model?: string) =>
    receiver.received.filter(({ path, body }) => {
      if (path !== '/primary') return false;
      const hook = JSON.parse(body) as Record<string, unknown>;
      const isModel = model === undefined || hook['model'] === model || hook['success'] === false;
      return hook['connectionId'] === id && hook['syncName'] === sync && isModel;
    });
  const webhook = async (sync: string, nth: number, model?: string) => {
    for (;;) {
      const found = webhooks(sync, model)[nth - 1];
      if (found !== undefined) return JSON.parse(found.body) as SyncHook;
      await receiver.got(receiver.received.length + 1);
    }
  };
  const records = async (model: string, query: Readonly<Record<string, string>> = {}) => {
    const search = new URLSearchParams({ model, ...query }).toString();
    return succeeded(await gateway().call('GET', `/records?${search}`, { headers })) as Page;
  };
  const trigger = (sync: string, more: object = {}) =>
    gateway().call('POST', '/sync/trigger', { body: { ...name, syncs: [sync], ...more } });
  return {
    id,
    account,
    headers,
    trigger,
    async run(sync, { more = {}, model } = {}) {
      const before = webhooks(sync, model).length;
      succeeded(await trigger(sync, more));
      return webhook(sync, before + 1, model);
    },
    webhook,
    webhooks,
    records,
    async all(model, cursor = null, variant) {
      const found: Page['records'] = [];
      for (let next = cursor; ;) {
        const page = await records(model, {
          limit: '10',
          ...(next === null ? {} : { cursor: next }),
          ...(variant === undefined ? {} : { variant }),
        });
        found.push(...page.records);
        next = page.next_cursor;
        if (next === null) return found;
      }
    },
    action: (action, input, more = {}) =>
      gateway().call('POST', '/action/trigger', {
        headers: { ...headers, ...more },
        body: { action_name: action, ...(input === undefined ? {} : { input }) },
      }),
    shown: async () =>
      succeeded(
        await gateway().call('GET', `/connections/${id}?provider_config_key=${integration}`),
      ),
    async status(sync) {
      const query = `syncs=${sync}&provider_config_key=${integration}&connection_id=${id}`;
      return succeeded(await gateway().call('GET', `/sync/status?${query}`)).syncs[0];
    },
  };
}

/** Asks again until the answer fits; a test's own timeout ends it. */
export async function eventually<T>(
  ask: () => Promise<T>,
  fits: (value: T) => boolean,
): Promise<T> {
  let last: T | undefined;
  using _ = sayWhenLate(() => inspect(last).slice(0, shownMax));
  for (;;) {
    const value = await ask();
    if (fits(value)) return value;
    last = value;
    await wait(25);
  }
}

/** Characters of a value that is printed. */
const shownMax = 2_000;
