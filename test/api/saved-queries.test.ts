/* oxlint-disable typescript/no-unsafe-assignment -- expect.any() is anything */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { codeOf, startApi, type Api } from '#test/support/worlds/api.ts';

let api: Api;
beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api[Symbol.asyncDispose]());

const path = (name: string): string => `/sql/queries/${encodeURIComponent(name)}`;
const save = (name: string, body: unknown, key?: string) =>
  api.call('PUT', path(name), { body, ...(key === undefined ? {} : { key }) });
const namesOf = async (key?: string) => {
  const listed = await api.call('GET', '/sql/queries', key === undefined ? {} : { key });
  return (listed.at('data') as readonly { name: string }[]).map(({ name }) => name);
};

describe('a saved query', () => {
  it('is kept under its name, with what it answers, and replaced', async () => {
    const first = await save('Failed runs', { query: 'SELECT 1', description: 'by day' });
    expect(first.at('data')).toMatchObject({
      name: 'Failed runs',
      query: 'SELECT 1',
      description: 'by day',
      created_at: expect.any(String),
    });
    const second = await save('Failed runs', { query: 'SELECT 2' });
    expect(second.at('data')).toMatchObject({
      query: 'SELECT 2',
      description: '',
      created_at: first.at('data.created_at'),
    });
    const read = await api.call('GET', path('Failed runs'));
    expect(read.at('data')).toEqual(second.at('data'));
    expect(await namesOf()).toEqual(['Failed runs']);
  });

  it('stays as it is when it is saved once more', async () => {
    const first = await save('Same', { query: 'SELECT 1' });
    const again = await save('Same', { query: 'SELECT 1' });
    expect(again.at('data.updated_at')).toBe(first.at('data.updated_at'));
  });

  it('belongs to its environment', async () => {
    await save('Of dev', { query: 'SELECT 1' });
    const { prod } = api.keys;
    expect(await namesOf(prod)).toEqual([]);
    expect(codeOf(await api.call('GET', path('Of dev'), { key: prod }))).toBe('404 not_found');
    expect(codeOf(await api.call('DELETE', path('Of dev'), { key: prod }))).toBe('404 not_found');
    expect(await namesOf()).toContain('Of dev');
  });

  it('is deleted, and then unknown', async () => {
    await save('Former', { query: 'SELECT 1' });
    expect(await api.call('DELETE', path('Former'))).toMatchObject({ body: { success: true } });
    expect(codeOf(await api.call('GET', path('Former')))).toBe('404 not_found');
    expect(codeOf(await api.call('DELETE', path('Former')))).toBe('404 not_found');
  });

  it.each([
    ['without a query', 'x', {}],
    ['with an empty query', 'x', { query: '' }],
    ['with a query that is too long', 'x', { query: ' '.repeat(limits.sqlQueryCharsMax + 1) }],
    ['with an unknown field', 'x', { query: 'SELECT 1', sql: 'SELECT 1' }],
  ])('is refused %s', async (_case, name, body) => {
    expect(codeOf(await save(name, body))).toBe('400 invalid_body');
  });

  it('is refused with a name that is too long', async () => {
    const name = 'n'.repeat(limits.savedQueryNameCharsMax + 1);
    expect(codeOf(await save(name, { query: 'SELECT 1' }))).toBe('400 invalid_uri_params');
  });

  it('has a limit of its number', async () => {
    const { prod } = api.keys;
    const numbers = Array.from({ length: limits.savedQueriesMax }, (_, number) => number);
    await Promise.all(numbers.map((number) => save(`q-${number}`, { query: 'SELECT 1' }, prod)));
    expect(await namesOf(prod)).toHaveLength(limits.savedQueriesMax);
    const more = await save('one more', { query: 'SELECT 1' }, prod);
    expect(codeOf(more)).toBe('400 resource_capped');
    expect(codeOf(await save('q-0', { query: 'SELECT 2' }, prod))).toBe('200 ');
  });
});
