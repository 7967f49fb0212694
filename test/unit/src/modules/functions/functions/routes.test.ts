import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  aSync,
  anAction,
  anOnEvent,
  fileBody,
  openFunctionsWorld,
  refusal,
  type FunctionsApi,
  type FunctionsWorld,
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

describe('the functions of an integration', () => {
  const ofCrm = { uniqueKey: 'crm' };
  const list = '/integrations/{uniqueKey}/functions';
  const one = '/integrations/{uniqueKey}/functions/{name}';

  beforeEach(async () => {
    await api.deploy([
      aSync('contacts'),
      anAction('create-contact'),
      anAction('contacts'),
      anOnEvent,
    ]);
  });

  it('are listed by page, type and part of the name', async () => {
    const all = await api.call('GET', list, { params: ofCrm });
    expect(all).toMatchObject({ pagination: { total: 3, page: 0, limit: 20 } });
    const found = await api.call('GET', list, {
      params: ofCrm,
      query: { type: 'action', search: 'CONTACT', limit: '1', page: '1' },
    });
    expect(found).toMatchObject({
      data: [{ name: 'create-contact' }],
      pagination: { total: 2, page: 1, limit: 1 },
    });
  });

  it('are shown with what their type has', async () => {
    const params = { uniqueKey: 'crm', name: 'contacts' };
    expect(await api.call('GET', one, { params })).toMatchObject({
      data: {
        id: expect.any(Number) as number,
        name: 'contacts',
        type: 'sync',
        description: 'Contacts',
        scopes: ['read'],
        enabled: true,
        source: 'repo',
        returns: ['Contact'],
        runs: 'every hour',
        auto_start: false,
        track_deletes: false,
        last_deployed: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      },
    });
    const event = await api.call('GET', one, { params: { uniqueKey: 'mail', name: 'greet' } });
    expect(event).toMatchObject({ data: { type: 'on-event', event: 'validate-connection' } });
  });

  it('give their source, and ask for the type where the name is ambiguous', async () => {
    const params = { uniqueKey: 'crm', name: 'contacts' };
    const path = `${one}/code`;
    expect(await refusal(api.call('GET', path, { params }))).toMatchObject({
      code: 'ambiguous_function',
    });
    const body = await api.call('GET', path, { params, query: { type: 'action' } });
    expect(body).toEqual({ type: 'action', code: fileBody.ts });
  });

  it('are not removed by hand while a project manages them', async () => {
    const params = { uniqueKey: 'crm', name: 'contacts' };
    const query = { type: 'sync' };
    expect(await refusal(api.call('DELETE', one, { params, query }))).toMatchObject({
      code: 'function_managed_by_deploy',
    });
  });

  it.each([
    [{ uniqueKey: 'nope', name: 'contacts' }],
    [{ uniqueKey: 'crm', name: 'nope' }],
    [{ uniqueKey: 'mail', name: 'contacts' }],
  ])('are not found as %j', async (params) => {
    expect(await refusal(api.call('GET', one, { params }))).toMatchObject({ code: 'not_found' });
  });

  it('are all in the configuration, and actions are tools', async () => {
    const body = await api.call('GET', '/scripts/config');
    expect(body).toMatchObject([
      {
        providerConfigKey: 'crm',
        provider: 'crm',
        syncs: [{ name: 'contacts', version: '', webhookSubscriptions: [], features: [] }],
        actions: [{ name: 'contacts' }, { name: 'create-contact' }],
        'on-events': [],
      },
      { providerConfigKey: 'mail', syncs: [], actions: [], 'on-events': [{ name: 'greet' }] },
    ]);
    const tools = await api.call('GET', '/scripts/config', { query: { format: 'openai' } });
    expect(tools).toMatchObject({
      data: [
        {
          name: 'contacts',
          parameters: { type: 'object', properties: { a: {} }, required: ['a'] },
        },
        { name: 'create-contact' },
      ],
    });
  });
});

describe('compiling one file', () => {
  const compile = (code: string) => api.call('POST', '/functions/compile', { body: { code } });
  const action = `import { createAction } from 'svc';
import { z } from 'zod';
export default createAction({
  description: 'x',
  input: z.void(),
  output: z.string(),
  exec: async () => 'done',
});
`;

  it('answers the bundle', async () => {
    const body = await compile(action);
    expect(body).toMatchObject({
      bundled_js: expect.stringContaining('module.exports') as string,
      bundle_size_bytes: expect.any(Number) as number,
      compiled_at: expect.stringMatching(/Z$/) as string,
    });
  });

  it('names every problem', async () => {
    const refused = await refusal(compile(action.replace("'done'", '1').replace('zod', 'lodash')));
    expect(refused.code).toBe('compilation_error');
    expect(refused.message).toContain("Import of package 'lodash' is not allowed");
    expect(refused.message).toMatch(/^err - function\.ts:2:/);
  });
});
