import { randomUUID } from 'node:crypto';
import type { Services } from '#api/services.ts';
import { findRecordReaders } from '#app/roles/dependents.ts';
import type { DeployPreview } from '#client/index.ts';
import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import { systemClock } from '#kernel/time.ts';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import { importConnection } from '#modules/connections/connections/handlers.ts';
import { createIntegration } from '#modules/connections/integrations/handlers.ts';
import type { DeployPlan } from '#modules/functions/functions/presenter.ts';
import { functionRoutes } from '#modules/functions/functions/routes.ts';
import { syncEntity } from '#modules/functions/syncs/entity.ts';
import type { SyncInstance } from '#modules/functions/syncs/state.ts';
import type { Coordination } from '#ports/coordination.ts';
import { aProvider, openControlWorld, type ControlNode } from './control.ts';

const system = { actor: 'system' };

interface Sent {
  readonly body?: unknown;
  readonly query?: unknown;
  readonly params?: unknown;
}
export type Scope = Readonly<Record<string, string | readonly string[]>>;
export const everything: Scope = { kind: 'environment' };

/** The endpoints of functions over a real control plane, in an environment with `crm` and `mail`. */
export interface FunctionsApi {
  readonly environmentUid: string;
  readonly node: ControlNode;
  /** Streams whose records were removed; the owner of records has tests of its own. */
  readonly emptied: readonly string[];
  /** The body and the query pass the route's own schemas. */
  call(method: string, path: string, sent?: Sent): Promise<unknown>;
  deploy(functions: readonly object[], scope?: Scope): Promise<DeployPlan>;
  preview(functions: readonly object[], scope?: Scope): Promise<DeployPreview>;
  connect(connectionId: string): Promise<unknown>;
  syncs(): SyncInstance[];
}

export interface FunctionsWorld extends AsyncDisposable {
  /** A new environment. */
  api(): Promise<FunctionsApi>;
}

/** @param coordination in place of the one in process. */
export async function openFunctionsWorld(coordination?: Coordination): Promise<FunctionsWorld> {
  await using stack = new AsyncDisposableStack();
  const world = stack.use(await openControlWorld());
  stack.use(await world.startOwners());
  const started = stack.use(await world.startNode());
  const node = coordination === undefined ? started : { ...started, coordination };
  const opened = stack.move();
  return { api: () => openApi(node), [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

async function openApi(node: ControlNode): Promise<FunctionsApi> {
  const { environment } = await createEnvironment(node, { name: `e-${randomUUID()}` }, system);
  const { uid: environmentUid } = environment;
  for (const uniqueKey of ['crm', 'mail']) {
    await createIntegration(node, { environmentUid, uniqueKey, provider: aProvider() }, system);
  }
  const emptied: string[] = [];
  const call = async (method: string, path: string, sent: Sent = {}): Promise<unknown> =>
    answerOf(servicesOf(node, emptied), environmentUid, method, path, sent);
  const plan = async (path: string, functions: readonly object[], scope: Scope) =>
    (await call('POST', path, {
      body: { reconciliationScope: scope, functions },
    })) as DeployPreview;
  const bundle = '/functions/deployments/bundle';
  return {
    environmentUid,
    node,
    emptied,
    call,
    deploy: (functions, scope = everything) => plan(bundle, functions, scope),
    preview: (functions, scope = everything) => plan(`${bundle}/preview`, functions, scope),
    connect: (connectionId) =>
      importConnection(
        node,
        {
          environmentUid,
          integrationKey: 'crm',
          connectionId,
          provider: aProvider(),
          credentials: { credentials: { type: 'API_KEY', apiKey: 'k' }, expiresAt: null },
        },
        system,
      ),
    syncs: () => node.control.view.list(syncEntity, [environmentUid]).map(({ state }) => state),
  };
}

/** The routes of functions use no more of the services than this. */
function servicesOf(node: ControlNode, emptied: string[]): Services {
  const writer = {
    empty: async ({ model, connectionId }: { model: string; connectionId: string }) => {
      emptied.push(`${connectionId}/${model}`);
    },
  };
  const { control, coordination } = node;
  const recordReaders = findRecordReaders(control);
  const used = { control, coordination, recordReaders, records: { writer }, clock: systemClock };
  return used as unknown as Services;
}

interface Parser {
  parse(value: unknown): unknown;
}

async function answerOf(
  services: Services,
  environmentUid: string,
  method: string,
  path: string,
  sent: Sent,
): Promise<unknown> {
  const route = functionRoutes.find((one) => one.method === method && one.path === path);
  if (route === undefined) throw new Error(`no route ${method} ${path}`);
  const schemas = route as { body?: Parser; query?: Parser; params?: Parser };
  const caller: Caller = {
    credential: 'environment',
    environmentUid,
    keyId: 'k',
    scopes: route.scopes,
    actor: 'key:k',
    has: () => true,
  };
  const { body } = await route.handle({
    body: schemas.body?.parse(sent.body) as never,
    query: schemas.query?.parse(sent.query ?? {}) as never,
    params: schemas.params?.parse(sent.params) as never,
    headers: {} as never,
    caller,
    services,
    address: '127.0.0.1',
    signal: new AbortController().signal,
  });
  return body;
}

/** What the work was refused with. @throws Error when it was not */
export async function refusal(work: Promise<unknown>): Promise<{ code: string; message: string }> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof GatewayError)) throw new Error(`not refused: ${String(error)}`);
  return { code: error.code, message: error.message };
}

export const fileBody = { js: 'module.exports = {};', ts: 'export default 1;' };

export const aSync = (syncName: string, more: object = {}) => ({
  type: 'sync',
  syncName,
  providerConfigKey: 'crm',
  models: ['Contact'],
  runs: 'every hour',
  fileBody,
  metadata: { description: 'Contacts', scopes: ['read'] },
  models_json_schema: { definitions: { Contact: { type: 'object' }, Lead: { type: 'object' } } },
  ...more,
});

export const anAction = (syncName: string, more: object = {}) => ({
  type: 'action',
  syncName,
  providerConfigKey: 'crm',
  models: [],
  runs: null,
  input: 'In',
  fileBody,
  models_json_schema: {
    definitions: { In: { type: 'object', properties: { a: {} }, required: ['a'] } },
  },
  ...more,
});

export const anOnEvent = {
  type: 'on-event',
  name: 'greet',
  integrationId: 'mail',
  event: 'validate-connection',
  fileBody,
};
