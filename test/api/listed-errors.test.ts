import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf, startApi, type Api } from '../support/api.ts';

let api: Api;
let prodId: number;
beforeAll(async () => {
  api = await startApi();
  const listed = await api.call('GET', '/environments', { key: api.keys.account });
  const environments = listed.at('data') as { id: number; name: string }[];
  prodId = environments.find(({ name }) => name === 'prod')!.id;
});
afterAll(() => api[Symbol.asyncDispose]());

const account = (method: string, path: string, body?: object) =>
  api.call(method, path, { key: api.keys.account, ...(body === undefined ? {} : { body }) });

const unknown = { provider_config_key: 'nobody', connection_id: 'nobody' };
const keyOf = (environment_id: number, display_name: string) => ({ environment_id, display_name });

/** Errors that no other file of tests provokes. */
describe('an environment', () => {
  it('named prod is always one of production', async () => {
    await account('DELETE', `/environments/${prodId}`);
    const renamed = await account('PATCH', `/environments/${prodId}`, { is_production: false });
    expect(codeOf(renamed)).toBe('400 invalid_is_prod_flag');
    const made = await account('POST', '/environments', { name: 'prod', is_production: false });
    expect(codeOf(made)).toMatch(/^(400 invalid_is_prod_flag|409 conflict)$/);
  });

  it.each([
    ['PATCH', '/environments/999999', { payload_mode: 'plain' }],
    ['GET', '/environment/api-keys?environment_id=999999', undefined],
    ['POST', '/environment/api-keys', keyOf(999_999, 'of nothing')],
  ])('that is not there: %s %s', async (method, path, body) => {
    expect(codeOf(await account(method, path, body))).toBe('404 not_found');
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

  it('has at most 100 variables', async () => {
    const set = (at: number) =>
      api.call('PUT', `/environment-variables/V${at}`, { body: { value: 'x' } });
    const all = await Promise.all(Array.from({ length: 105 }, (_, at) => set(at)));
    expect(all.map(codeOf)).toContain('400 resource_capped');
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
