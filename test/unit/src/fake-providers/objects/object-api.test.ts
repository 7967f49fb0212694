import { expect, it } from 'vitest';
import { Refusal } from '#fake-providers/exchange.ts';
import { isObjectFixture, parseFixture } from '#fake-providers/objects/fixture.ts';
import { ObjectApi } from '#fake-providers/objects/object-api.ts';

const fixture = parseFixture({
  documentation: ['https://example.com/docs'],
  checked_at: '2026-11-27',
  lists: [
    {
      endpoint: '/query',
      patterns: { q: 'FROM Thing' },
      documents: 'records',
      pagination: { type: 'cursor', name: 'q', pattern: "Id > '([^']+)'" },
    },
  ],
  documents: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
  deletes: { type: 'none', because: 'the API deletes nothing' },
});

const answer = (path: string, query = '') => {
  const verification = { endpoints: ['/me?fields=id'] };
  const api = new ObjectApi(new Map([['things', fixture]]), { verification });
  const url = new URL(`http://127.0.0.1${path}?${query}`);
  const request = { method: 'GET', url, headers: {}, body: '' };
  return api.answer(request as Parameters<ObjectApi['answer']>[0], path);
};

it('answers the request that tries credentials', () => {
  expect(answer('/me', 'fields=id')).toEqual({ status: 200, body: { ok: true } });
  expect(() => answer('/you')).toThrow(Refusal);
});

it('finds the id of the last document in an expression', () => {
  const listed = (q: string) => answer('/query', new URLSearchParams({ q }).toString()).body;
  expect(listed('SELECT Id FROM Thing')).toMatchObject({ records: [{}, {}, {}] });
  expect(listed("SELECT Id FROM Thing WHERE Id > 'b'")).toEqual({ records: [{ id: 'c' }] });
});

it('distinguishes lists by a query', () => {
  expect(() => answer('/query', 'q=SELECT+Id+FROM+Other')).toThrow(Refusal);
});

it('distinguishes lists of one endpoint, finds the page in an expression and the time in a header', () => {
  const listOf = (entity: string) => ({
    endpoint: '/rows',
    documents: entity,
    patterns: { q: `^from ${entity} ` },
    pagination: { type: 'offset', name: 'q', counts: 'rows', start: 1, pattern: ' start (\\d+)' },
    limit: { name: 'q', max: 2, pattern: ' max (\\d+)' },
    filter: {
      name: 'If-Modified-Since',
      in_header: true,
      field: 'at',
      format: 'iso',
      comparison: '>=',
    },
  });
  const ofEntity = (entity: string) =>
    parseFixture({
      documentation: ['https://example.com/docs'],
      checked_at: '2026-11-27',
      lists: [listOf(entity)],
      documents: [1, 2, 3].map((id) => ({ id, at: `/Date(${Date.UTC(2026, 0, id)}+0000)/` })),
      deletes: { type: 'none', because: 'the API deletes nothing' },
    });
  const api = new ObjectApi(
    new Map([
      ['a', ofEntity('A')],
      ['b', ofEntity('B')],
    ]),
  );
  const ids = (q: string, headers: Record<string, string> = {}) => {
    const url = new URL(`http://127.0.0.1/rows?${new URLSearchParams({ q }).toString()}`);
    const request = { method: 'GET', url, headers, body: '' };
    const { body } = api.answer(request as Parameters<ObjectApi['answer']>[0], '/rows');
    return JSON.stringify(body)
      .match(/"[AB]"|"id":\d/g)
      ?.join(' ');
  };
  expect(ids('from B start 1 max 2')).toBe('"B" "id":1 "id":2');
  expect(ids('from A start 3 max 2')).toBe('"A" "id":3');
  expect(ids('from A start 1 max 2', { 'if-modified-since': '2026-01-03T00:00:00' })).toBe(
    '"A" "id":3',
  );
  expect(() => ids('from A start 1 max 3')).toThrow(Refusal);
});

it('fills pages of the size that the API fixes where it has no parameter for it', () => {
  const fixed = parseFixture({
    documentation: ['https://example.com/docs'],
    checked_at: '2026-11-27',
    lists: [
      {
        endpoint: '/rows',
        documents: 'rows',
        pagination: { type: 'offset', name: 'page', counts: 'pages' },
        limit: { max: 2 },
      },
    ],
    documents: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
    deletes: { type: 'none', because: 'the API deletes nothing' },
  });
  const api = new ObjectApi(new Map([['rows', fixed]]));
  const pageOf = (query: string) => {
    const request = { method: 'GET', url: new URL(`http://127.0.0.1/rows?${query}`), headers: {} };
    return api.answer({ ...request, body: '' } as Parameters<ObjectApi['answer']>[0], '/rows').body;
  };
  expect(pageOf('page=0')).toEqual({ rows: [{ id: 'a' }, { id: 'b' }] });
  expect(pageOf('page=1')).toEqual({ rows: [{ id: 'c' }] });
  expect(() => pageOf('limit=2')).toThrow(Refusal);
});

it('says in the header whether documents follow where the last page has an address too', () => {
  const listed = parseFixture({
    documentation: ['https://example.com/docs'],
    checked_at: '2026-11-27',
    lists: [{ endpoint: '/rows', pagination: { type: 'link', rel: 'next', has_results: true } }],
    documents: [{ id: 1 }, { id: 2 }, { id: 3 }],
    deletes: { type: 'none', because: 'the API deletes nothing' },
  });
  const api = new ObjectApi(new Map([['rows', listed]]));
  api.pageMax = 2;
  const linkOf = (query: string) => {
    const url = new URL(`http://127.0.0.1/rows${query}`);
    const request = { method: 'GET', url, headers: {}, body: '' };
    return api.answer(request as Parameters<ObjectApi['answer']>[0], '/rows').headers?.['link'];
  };
  const first = linkOf('');
  expect(first).toMatch(/; rel="next"; results="true"$/);
  expect(linkOf(/\?[^>]*/.exec(first ?? '')?.[0] ?? '')).toMatch(/; rel="next"; results="false"$/);
});

it('lists everything for the token of the start', () => {
  const changing = parseFixture({
    documentation: ['https://example.com/docs'],
    checked_at: '2026-11-27',
    lists: [
      {
        endpoint: '/sync',
        documents: 'rows',
        pagination: { type: 'none' },
        delta: { name: 'token', path: 'token', start: '*' },
      },
    ],
    documents: [{ id: 'a' }, { id: 'b' }, { id: 'c' }],
    deletes: { type: 'none', because: 'the API deletes nothing' },
  });
  const api = new ObjectApi(new Map([['rows', changing]]));
  const listed = (token: string) => {
    const url = new URL(`http://127.0.0.1/sync?token=${token}`);
    const request = { method: 'GET', url, headers: {}, body: '' };
    return api.answer(request as Parameters<ObjectApi['answer']>[0], '/sync').body;
  };
  expect(listed('*')).toEqual({ rows: [{ id: 'a' }, { id: 'b' }, { id: 'c' }], token: 'v1' });
  api.dataset('rows').save([{ id: 'd' }]);
  expect(listed('v1')).toEqual({ rows: [{ id: 'd' }], token: 'v2' });
  expect(() => listed('')).toThrow(Refusal);
});

it('answers what no object does from the most similar case, when it may', () => {
  const documentation = ['https://example.com/docs'];
  const endpoint = '/graphql';
  const exchangeOf = (query: string, response: string) => ({
    method: 'POST',
    endpoint,
    body: { query, variables: { name: 'Ada' } },
    response: { body: { [response]: true } },
  });
  const call = parseFixture({
    documentation,
    checked_at: '2026-11-27',
    cases: [
      { name: 'creates', exchanges: [exchangeOf('create', 'created')] },
      { name: 'renames', exchanges: [exchangeOf('rename', 'renamed')] },
    ],
  });
  const api = new ObjectApi(new Map([['act', call]]));
  const post = (path: string) =>
    api.answer(
      {
        role: 'api',
        method: 'POST',
        url: new URL(`https://example.com${path}`),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query: 'rename', variables: { name: 'Bob' } }),
      },
      path,
    );
  expect(() => post(endpoint)).toThrow(Refusal);
  api.answersFromCases = true;
  expect(post(endpoint).body).toEqual({ renamed: true });
  expect(() => post('/other')).toThrow(Refusal);
});

it('demands the headers of a case, in which {text} stands for any text', () => {
  const call = parseFixture({
    documentation: ['https://example.com/docs'],
    checked_at: '2026-11-27',
    cases: [
      {
        name: 'creates',
        exchanges: [
          {
            method: 'POST',
            endpoint: '/things',
            headers: { 'idempotency-key': '{text}' },
            response: { body: { id: 'a' } },
          },
        ],
      },
    ],
  });
  const api = new ObjectApi(new Map([['act', call]]));
  api.exchanges = isObjectFixture(call) ? [] : (call.cases[0]?.exchanges ?? []);
  const post = (headers: Record<string, string>) =>
    api.answer(
      {
        role: 'api',
        method: 'POST',
        url: new URL('https://example.com/things'),
        headers: { ...headers, accept: 'application/json' },
        body: '',
      },
      '/things',
    ).body;
  expect(() => post({})).toThrow(Refusal);
  expect(post({ 'idempotency-key': 'k1' })).toEqual({ id: 'a' });
});
