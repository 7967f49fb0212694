import { createHash } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKey } from '#modules/access/api-keys/handlers.ts';
import { deployBody, deployedParts } from '#modules/functions/functions/deploy-body.ts';
import { functionRef } from '#modules/functions/functions/entity.ts';
import type { DeployPlan } from '#modules/functions/functions/presenter.ts';
import {
  aSync,
  anAction,
  anOnEvent,
  everything,
  fileBody,
  openFunctionsWorld,
  refusal,
  type FunctionsApi,
  type FunctionsWorld,
  type Scope,
} from '#test/support/worlds/functions-api.ts';

let world: FunctionsWorld;
let api: FunctionsApi;
beforeAll(async () => {
  world = await openFunctionsWorld();
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});
beforeEach(async () => {
  api = await world.api();
});

const names = (items: DeployPlan['created']): string[] =>
  items.map(({ integrationId, type, name }) => `${integrationId}/${type}/${name}`);

describe('a deployment', () => {
  it('distinguishes created, updated, unchanged and deleted by content', async () => {
    const first = await api.deploy([aSync('contacts'), anAction('create'), anOnEvent]);
    expect(names(first.created)).toEqual([
      'crm/sync/contacts',
      'crm/action/create',
      'mail/on-event/greet',
    ]);
    const again = await api.deploy([aSync('contacts'), anAction('create'), anOnEvent]);
    expect(names(again.unchanged)).toHaveLength(3);

    const next = [aSync('contacts', { version: '2' }), anOnEvent];
    const planned = await api.preview(next);
    const { syncs_pending: isPending, ...plan } = planned;
    expect(isPending).toBe(false);
    expect(await api.deploy(next)).toEqual(plan);
    expect(names(planned.updated)).toEqual(['crm/sync/contacts']);
    expect(names(planned.deleted)).toEqual(['crm/action/create']);
    expect(names(planned.unchanged)).toEqual(['mail/on-event/greet']);
    expect(names((await api.preview(next)).unchanged)).toHaveLength(2);
  });

  it('is compared by digests without its files', async () => {
    await api.deploy([aSync('contacts'), anAction('create')]);
    const digest = (text: string) => createHash('sha256').update(text).digest('hex');
    const { js, ts } = fileBody;
    const same = { fileBody: { js_sha256: digest(js), ts_sha256: digest(ts) } };
    const other = { fileBody: { js_sha256: digest('more'), ts_sha256: digest(ts) } };
    const plan = await api.preview([
      aSync('contacts', same),
      anAction('create', other),
      anAction('new', other),
    ]);
    expect(names(plan.unchanged)).toEqual(['crm/sync/contacts']);
    expect(plan.updated).toMatchObject([{ name: 'create', changes: [{ part: 'code' }] }]);
    expect(names(plan.created)).toEqual(['crm/action/new']);
    await expect(api.deploy([aSync('contacts', same)])).rejects.toThrow('fileBody');
  });

  it('names the changes of each function, and who reads a model that they break', async () => {
    const model = (properties: object) => ({
      models_json_schema: {
        definitions: { Contact: { type: 'object', properties, required: Object.keys(properties) } },
      },
    });
    const text = { type: 'string' };
    const options = { actor: 'system' };
    const { environmentUid, node } = api;
    for (const [displayName, scopes] of [
      ['reader', ['environment:*']],
      ['deployer', ['environment:deploy']],
    ] as const) {
      await createKey(node, { environmentUid, displayName, scopes }, options);
    }
    await api.deploy([aSync('contacts', model({ id: text, phone: text, size: text }))]);
    const next = aSync('contacts', {
      ...model({ id: text, email: text, size: { type: ['number', 'null'] } }),
      runs: 'every day',
    });
    const plan = await api.preview([next]);
    expect(plan.updated[0]?.changes).toMatchObject([
      {
        part: 'model',
        model: 'Contact',
        fields: [
          { field: 'email', change: 'added', to: 'string' },
          { field: 'phone', change: 'removed', from: 'string' },
          { field: 'size', change: 'retyped', from: 'string', to: 'number or null' },
        ],
      },
      { part: 'frequency', to: 'every day' },
    ]);
    expect(plan.breaking).toMatchObject([
      {
        integrationId: 'crm',
        function: 'contacts',
        model: 'Contact',
        fields: [{ field: 'phone' }, { field: 'size' }],
        readers: {
          api_keys: expect.arrayContaining(['reader']) as string[],
          webhook_endpoints: [],
          typed_topics: [],
        },
      },
    ]);
    expect(plan.breaking[0]?.readers.api_keys).not.toContain('deployer');
    await api.deploy([next]);
    expect(await api.preview([next])).toMatchObject({ updated: [], breaking: [] });
  });

  it('says when the syncs of an interrupted one are behind, and the next one makes up for it', async () => {
    await api.connect('acme');
    await api.deploy([aSync('contacts')]);
    expect(await api.preview([aSync('contacts')])).toMatchObject({ syncs_pending: false });
    // As a deployment leaves it that was cut off between its functions and their syncs.
    const changed = aSync('contacts', { version: '2' });
    const parts = deployedParts(
      api.environmentUid,
      deployBody.shape.functions.element.parse(changed),
      undefined,
    );
    const ref = functionRef(api.environmentUid, 'crm', 'sync', 'contacts');
    await api.node.control.execute(ref, { type: 'Deploy', parts }, { actor: 'system' });
    const plan = await api.preview([changed]);
    expect(plan).toMatchObject({ updated: [], syncs_pending: true });
    await api.deploy([changed]);
    expect(api.syncs().map(({ functionVersion }) => functionVersion)).toEqual(['2']);
    expect(await api.preview([changed])).toMatchObject({ updated: [], syncs_pending: false });
  });

  it('previews without changing anything', async () => {
    await api.preview([aSync('contacts')]);
    const body = await api.call('GET', '/scripts/config');
    expect(body).toEqual([]);
  });

  it.each<[string, Scope, object[], string[]]>([
    [
      'an integration',
      { kind: 'integration', integrationId: 'crm' },
      [],
      ['crm/sync/contacts', 'crm/action/create'],
    ],
    [
      'several integrations',
      { kind: 'integrations', integrationIds: ['crm'] },
      [aSync('contacts')],
      ['crm/action/create'],
    ],
    ['no integration', { kind: 'integrations', integrationIds: [] }, [], []],
    [
      'one function',
      { kind: 'function', integrationId: 'crm', name: 'contacts', type: 'sync' },
      [aSync('contacts', { version: '2' })],
      [],
    ],
    [
      'one function that is gone',
      { kind: 'function', integrationId: 'crm', name: 'contacts', type: 'sync' },
      [],
      ['crm/sync/contacts'],
    ],
  ])('of %s removes nothing outside it', async (_what, scope, functions, removed) => {
    await api.deploy([aSync('contacts'), anAction('create'), anOnEvent]);
    const plan = await api.deploy(functions, scope);
    expect(names(plan.deleted).sort()).toEqual([...removed].sort());
    expect(names((await api.preview([], everything)).deleted)).toHaveLength(3 - removed.length);
  });

  it('names the models whose records go away, and not those that another sync takes over', async () => {
    await api.deploy([aSync('contacts'), aSync('leads', { models: ['Lead'] })]);
    const renamed = await api.preview([aSync('people'), aSync('leads', { models: [] })]);
    expect(renamed.deletedModels).toEqual(['Lead']);
    expect((await api.preview([])).deletedModels).toEqual(['Contact', 'Lead']);
  });

  it('makes the syncs of the connections, started only with auto start, and removes them', async () => {
    await api.connect('acme');
    await api.connect('globex');
    const auto = aSync('leads', { models: ['Lead'], auto_start: true });
    const plan = await api.deploy([aSync('contacts'), auto]);
    expect(plan.created.map(({ connections, auto_start }) => [connections, auto_start])).toEqual([
      [2, false],
      [2, true],
    ]);
    const states = api
      .syncs()
      .map(({ connectionId, syncName, state }) => [connectionId, syncName, state]);
    expect(states.sort()).toEqual([
      ['acme', 'contacts', 'paused'],
      ['acme', 'leads', 'started'],
      ['globex', 'contacts', 'paused'],
      ['globex', 'leads', 'started'],
    ]);

    await api.deploy([aSync('contacts', { runs: 'every 2 hours' })]);
    expect(api.syncs().map(({ syncName, frequencyMs }) => [syncName, frequencyMs])).toEqual([
      ['contacts', 7_200_000],
      ['contacts', 7_200_000],
    ]);
    expect([...api.emptied].sort()).toEqual(['acme/Lead', 'globex/Lead']);
  });

  it('is refused while another is under way, and lets the next one in', async () => {
    const lease = await api.node.coordination.acquire(`deploy/${api.environmentUid}`, {
      ttlMs: 60_000,
    });
    expect(await refusal(api.deploy([aSync('contacts')]))).toMatchObject({
      code: 'concurrent_deployment',
    });
    if (lease !== null) await api.node.coordination.release(lease);
    expect(names((await api.deploy([aSync('contacts')])).created)).toHaveLength(1);
    expect(names((await api.deploy([aSync('contacts')])).unchanged)).toHaveLength(1);
  });

  it('of an integration that is not there is refused, also when it brings no function', async () => {
    const scopes = [
      { kind: 'integration', integrationId: 'nope' },
      { kind: 'integrations', integrationIds: ['crm', 'nope'] },
    ];
    for (const scope of scopes) {
      for (const work of [api.deploy([], scope), api.preview([], scope)]) {
        expect(await refusal(work)).toMatchObject({ code: 'integration_not_found' });
      }
    }
  });

  it.each<[string, object[], string, RegExp]>([
    [
      'an unknown integration',
      [aSync('contacts', { providerConfigKey: 'nope' })],
      'integration_not_found',
      /"nope"/,
    ],
    [
      'a sync without a frequency',
      [aSync('contacts', { runs: null })],
      'missing_required_fields_on_deploy',
      /"contacts".*runs/,
    ],
    [
      'an empty bundle',
      [anAction('a', { fileBody: { js: '', ts: 'x' } })],
      'missing_required_fields_on_deploy',
      /fileBody\.js/,
    ],
    [
      'an unreadable frequency',
      [aSync('contacts', { runs: 'daily' })],
      'sync_interval_invalid',
      /"contacts"/,
    ],
    [
      'a frequency below the minimum',
      [aSync('contacts', { runs: 'every 10s' })],
      'sync_interval_too_short',
      /"contacts"/,
    ],
    [
      'a model without a schema',
      [aSync('contacts', { models: ['Ghost'] })],
      'deploy_missing_json_schema_model',
      /Ghost/,
    ],
    [
      'an input without a schema',
      [anAction('a', { input: 'Ghost' })],
      'deploy_missing_json_schema_model',
      /Ghost/,
    ],
    [
      'a bundle that is too large',
      [anAction('a', { fileBody: { js: 'x'.repeat(1_000_000), ts: 'x' } })],
      'request_too_large',
      /"a"/,
    ],
    ['one function twice', [anAction('a'), anAction('a')], 'invalid_body', /sent twice/],
    ['one model in two syncs', [aSync('a'), aSync('b')], 'invalid_body', /"Contact".*"a".*"b"/],
  ])('with %s is refused whole', async (_what, functions, code, message) => {
    const good = anAction('good');
    const refused = await refusal(api.deploy([good, ...functions]));
    expect(refused).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect((await api.preview([good])).created).toHaveLength(1);
  });

  it('§16 syncs of a connection: an integration has 100 at the most', async () => {
    const syncs = Array.from({ length: 100 }, (_, at) => aSync(`sync-${at}`, { models: [] }));
    await api.deploy(syncs);
    const scope = { kind: 'function', integrationId: 'crm', name: 'one-more', type: 'sync' };
    const oneMore = aSync('one-more', { models: [] });
    expect(await refusal(api.deploy([oneMore], scope))).toMatchObject({
      code: 'invalid_body',
      message: expect.stringContaining('"crm" would have 101 syncs') as string,
    });
  });

  it('of one sync is refused when it takes a model from one outside the scope', async () => {
    await api.deploy([aSync('contacts')]);
    const scope = { kind: 'function', integrationId: 'crm', name: 'people', type: 'sync' };
    expect(await refusal(api.deploy([aSync('people')], scope))).toMatchObject({
      code: 'invalid_body',
    });
    expect(await refusal(api.deploy([aSync('others')], scope))).toMatchObject({
      message: expect.stringContaining('outside the reconciliation scope') as string,
    });
  });

  it.each([
    [{ functions: [] }],
    [{ reconciliationScope: { kind: 'galaxy' }, functions: [] }],
    [{ reconciliationScope: everything, functions: [{ type: 'sync' }] }],
    [{ reconciliationScope: everything, functions: [aSync('not/a/name')] }],
    [{ reconciliationScope: everything, functions: [aSync('a', { surprise: 1 })] }],
  ])('with a body of another form is refused: %j', async (body) => {
    await expect(api.call('POST', '/functions/deployments/bundle', { body })).rejects.toThrow();
  });
});
