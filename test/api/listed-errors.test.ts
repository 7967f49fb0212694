import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { isOfKind } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import { hourMs } from '#kernel/time.ts';
import { environmentEntity, environmentRef } from '#modules/access/environments/entity.ts';
import { sealIntegrationCredentials } from '#modules/connections/credentials/sealing.ts';
import { integrationEntity } from '#modules/connections/integrations/entity.ts';
import { requireIntegration } from '#modules/connections/integrations/queries.ts';
import { demoDefinitions } from '#modules/extensions/demo/definitions.ts';
import { deployBody } from '#modules/functions/functions/deploy-body.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import { deployFunctions } from '#modules/functions/functions/handlers.ts';
import {
  createRunsClient,
  type RunsClientDeps,
} from '#modules/functions/runs/invocation/create-client.ts';
import { parkTo } from '#modules/operations/dead-letters/park.ts';
import { webhookEndpointEntity } from '#modules/webhooks/webhook-endpoints/entity.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';
import { connectionsFound } from '#test/support/worlds/control.ts';
import { anAction, aSync } from '#test/support/worlds/functions-api.ts';

const clock = movedClock();
const system = { actor: 'system' };
let api: Api;
let prodId: number;
let devUid: string;
beforeAll(async () => {
  api = await startApi({ clock });
  const listed = await account('GET', '/environments');
  const environments = listed.at('data') as { id: number; name: string }[];
  prodId = environments.find(({ name }) => name === 'prod')!.id;
  const { view } = api.services.control;
  devUid = view.findBy(environmentEntity, 'name', 'dev')!.state.uid;
  const hub = { provider: 'slack', unique_key: 'crm', credentials: client('first') };
  expect(codeOf(await api.call('POST', '/integrations', { body: hub }))).toBe('200 ');
});
afterAll(() => api[Symbol.asyncDispose]());
afterEach(() => vi.restoreAllMocks());

const client = (secret: string) => ({ type: 'OAUTH2', client_id: 'c', client_secret: secret });
const account = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: api.keys.account, ...(body === undefined ? {} : { body }) });
const post = (path: string, body: object, headers = {}) =>
  api.call('POST', path, { body, headers });
const of = { provider_config_key: 'crm', connection_id: 'acme' };
const held = { type: 'OAUTH2', access_token: 'a' };
const deployed = (functions: readonly object[]) =>
  deployBody.parse({ reconciliationScope: { kind: 'environment' }, functions });

const unknown = { provider_config_key: 'nobody', connection_id: 'nobody' };
const keyOf = (environment_id: number, display_name: string) => ({ environment_id, display_name });

/** Errors that no other file of tests provokes. */
describe('a provider', () => {
  it.each(['/providers/nobody', '/images/template-logos/nobody.svg'])(
    'that is not there: GET %s',
    async (path) => {
      expect(codeOf(await api.call('GET', path))).toBe('404 not_found');
    },
  );
});

describe('an environment', () => {
  it('named prod is always one of production', async () => {
    await account('DELETE', `/environments/${prodId}`);
    const plain = { name: 'prod', is_production: false };
    const path = `/environments/${prodId}`;
    expect(codeOf(await account('PATCH', path, plain))).toBe('400 invalid_is_prod_flag');
    expect(codeOf(await account('POST', '/environments', plain))).toBe('409 conflict');
    expect(codeOf(await account('PATCH', path, { name: 'live' }))).toBe('200 ');
    expect(codeOf(await account('POST', '/environments', plain))).toBe('400 invalid_is_prod_flag');
    expect(codeOf(await account('PATCH', path, { name: 'prod' }))).toBe('200 ');
  });

  it.each([
    ['PATCH', '/environments/999999', { payload_mode: 'plain' }],
    ['GET', '/environments/999999/retention', undefined],
    ['GET', '/environment/api-keys?environment_id=999999', undefined],
    ['POST', '/environment/api-keys', keyOf(999_999, 'of nothing')],
  ])('that is not there: %s %s', async (method, path, body) => {
    expect(codeOf(await account(method, path, body))).toBe('404 not_found');
  });

  it('takes its connect sessions with it', async () => {
    const made = await account('POST', '/environments', { name: 'brief' });
    const id = made.at('data.id') as number;
    const key = await account('POST', '/environment/api-keys', keyOf(id, 'brief'));
    const body = { end_user: { id: 'u1' } };
    const options = { key: key.at('data.secret') as string, body };
    const session = await api.call('POST', '/connect/sessions', options);
    expect(codeOf(await account('DELETE', `/environments/${id}`))).toBe('204 ');
    const over = { key: session.at('data.token') as string };
    const refused = await api.call('GET', '/connect/session', over);
    expect(codeOf(refused)).toBe('401 unknown_connect_session_token');
  });

  it('has at most 50 keys, as the account has, each with a name of its own', async () => {
    const make = (at: number) =>
      account('POST', '/environment/api-keys', keyOf(prodId, `key ${at}`));
    const made = await Promise.all(Array.from({ length: 55 }, (_, at) => make(at)));
    expect(made.map(codeOf)).toContain('400 resource_capped');
    const own = (at: number) => account('POST', '/account/api-keys', { display_name: `k ${at}` });
    expect(codeOf(await own(0))).toBe('200 ');
    expect(codeOf(await own(0))).toBe('409 conflict');
    const more = await Promise.all(Array.from({ length: 55 }, (_, at) => own(at + 1)));
    expect(more.map(codeOf)).toContain('400 resource_capped');
  });

  it('has at most 100 variables, and 100 endpoints of webhooks', async () => {
    const all = Array.from({ length: 105 }, (_, at) => at);
    const set = (at: number) =>
      api.call('PUT', `/environment-variables/V${at}`, { body: { value: 'x' } });
    expect((await Promise.all(all.map(set))).map(codeOf)).toContain('400 resource_capped');
    const url = 'https://hooks.example/';
    const made = all.map((at) => post('/webhook-endpoints', { url: `${url}${at}` }));
    expect((await Promise.all(made)).map(codeOf)).toContain('400 resource_capped');
    const { view } = api.services.control;
    for (const { ref } of view.list(webhookEndpointEntity, [devUid])) {
      await api.services.control.execute(ref, { type: 'Delete' }, system);
    }
  });
});

describe('what was changed meanwhile', () => {
  it('is not overwritten with other credentials of the integration', async () => {
    const { control, vault } = api.services;
    const ask = control.execute.bind(control);
    const known = await requireIntegration(control, devUid, 'crm');
    vi.spyOn(control, 'execute').mockImplementation(async (ref, body, options) => {
      if (isOfKind(integrationEntity, ref)) {
        const sealed = sealIntegrationCredentials(vault, known, { type: 'OAUTH2', clientId: 'c' });
        await ask(ref, { type: 'Update', changes: { credentials: sealed } }, options);
      }
      return ask(ref, body, options);
    });
    const body = { credentials: client('mine') };
    expect(codeOf(await api.call('PATCH', '/integrations/crm', { body }))).toBe('409 conflict');
  });

  it('is not connected while it is being deleted', async () => {
    const body = { ...of, connection_id: 'leaving', credentials: held };
    expect(codeOf(await post('/connections', body))).toBe('201 ');
    const { control } = api.services;
    const [known] = connectionsFound(control, { environmentUid: devUid, connectionId: 'leaving' });
    await control.execute(known!.ref, { type: 'MarkDeleting' }, system);
    expect(codeOf(await post('/connections', body))).toBe('409 conflict');
  });

  it('is made once with an Idempotency-Key, also when that is forgotten', async () => {
    const repeated = { 'idempotency-key': randomUUID() };
    const make = () => post('/webhook-endpoints', { url: 'https://hooks.example/x' }, repeated);
    expect([codeOf(await make()), codeOf(await make())]).toEqual(['201 ', '201 ']);
    clock.forward(25 * hourMs);
    expect(codeOf(await make())).toBe('409 conflict');
  });

  it('is not deployed over another deployment', async () => {
    const { coordination } = api.services;
    const lease = await coordination.acquire(`deploy/${devUid}`, { ttlMs: hourMs });
    const refused = await post('/functions/deployments/bundle', deployed([]));
    expect(codeOf(refused)).toBe('409 concurrent_deployment');
    expect(codeOf(await api.call('POST', '/demo'))).toBe('404 not_found');
    const { providers, addedProviders } = api.services;
    const all = demoDefinitions('http://127.0.0.1:1');
    const find = (name: string) => all.find((one) => one.name === name) ?? null;
    Object.assign(api.services, {
      addedProviders: new Set(all.map(({ name }) => name)),
      providers: { find, all: () => all },
    });
    expect(codeOf(await api.call('POST', '/demo'))).toBe('409 concurrent_deployment');
    Object.assign(api.services, { providers, addedProviders });
    await coordination.release(lease!);
  });

  it('is not deployed by a command line that does not fit the service', async () => {
    for (const path of ['/functions/deployments/bundle', '/functions/deployments/bundle/preview']) {
      for (const agent of ['svc-cli/0.66.99', 'svc-cli/999.0.0']) {
        const refused = await post(path, deployed([]), { 'user-agent': agent });
        expect(codeOf(refused)).toBe('400 invalid_cli_version');
      }
    }
  });

  it('of a dead letter is waited for: what is being tried again cannot be dropped', async () => {
    const { publisher } = api.services;
    const message = { key: 'k', value: null, headers: {}, offset: 0, timestamp: clock.now() };
    const at = { topic: 'svc.runs.v1', partition: 0, message, replay: null };
    await parkTo(publisher, 'svc.runners')(at, new GatewayError('log_corrupt'), 5);
    const [{ id }] = (await account('GET', '/dead-letters')).at('data') as [{ id: string }];
    const letter = `/dead-letters/${id}`;
    // Nobody runs who would try: the answer comes without an outcome.
    const retried = account('POST', `${letter}/retry`);
    await vi.waitUntil(async () => (await account('GET', letter)).at('data.state') === 'retrying');
    expect(codeOf(await account('DELETE', letter))).toBe('409 conflict');
    expect(codeOf(await retried)).toBe('202 ');
  });
});

describe('a function', () => {
  beforeAll(async () => {
    const functions = [aSync('contacts'), anAction('stopped')];
    const parts = { ...api.services, reconcileSyncs: () => Promise.resolve() };
    await deployFunctions(parts, devUid, { body: deployed(functions) }, system);
    expect(codeOf(await post('/connections', { ...of, credentials: held }))).toBe('201 ');
  });

  it('§16 variants: at most 100 for a connection', async () => {
    const make = (at: number) => post(`/sync/contacts/variant/v${at}`, of);
    const made = await Promise.all(Array.from({ length: 100 }, (_, at) => make(at)));
    expect(new Set(made.map(codeOf))).toEqual(new Set(['200 ']));
    expect(codeOf(await make(100))).toBe('400 resource_capped');
  });

  it('keeps all its log lines, beside so many others at a time', async () => {
    const { control } = api.services;
    const named = { integration_id: 'crm', type: 'action', name: 'stopped' };
    const keep = (minutes: number) => post('/logs/keep', { minutes, functions: [named] });
    expect(codeOf(await keep(5))).toBe('200 ');
    expect(codeOf(await keep(0))).toBe('200 ');
    const functions = Array.from({ length: limits.allLogsFunctionsMax }, (_, at) => `f${at}`);
    const others = { type: 'KeepAllLogs', functions, forMs: hourMs } as const;
    await control.execute(environmentRef(devUid), others, system);
    expect(codeOf(await keep(5))).toBe('400 resource_capped');
  });

  it('that is disabled does not run', async () => {
    const { control } = api.services;
    // No more of it is asked for here.
    const runs = createRunsClient({ control } as RunsClientDeps);
    Object.assign(api.services, { runs });
    await control.execute(
      functionRef(devUid, 'crm', 'action', 'stopped'),
      { type: 'Disable' },
      system,
    );
    const headers = { 'provider-config-key': 'crm', 'connection-id': 'acme' };
    const refused = await post('/action/trigger', { action_name: 'stopped' }, headers);
    expect(codeOf(refused)).toBe('404 disabled_resource');
  });
});

describe('a connection of an integration that is not there', () => {
  it.each([
    ['PATCH', '/connections/c?provider_config_key=nobody', {}, 400],
    ['GET', '/connection/c?provider_config_key=nobody', undefined, 400],
    ['POST', '/connections/metadata', { ...unknown, metadata: {} }, 404],
    ['PATCH', '/connections/metadata', { ...unknown, metadata: {} }, 404],
    ['POST', '/connection/metadata', { ...unknown, metadata: {} }, 404],
    ['PATCH', '/connection/metadata', { ...unknown, metadata: {} }, 404],
  ])('%s %s', async (method, path, body, status) => {
    const answer = await api.call(method, path, body === undefined ? {} : { body });
    expect(codeOf(answer)).toBe(`${status} unknown_provider_config`);
  });
});
