import { expect, it } from 'vitest';
import { Refusal } from '#fake-providers/exchange.ts';
import { parseFixture } from '#fake-providers/objects/fixture.ts';
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
  expect(answer('/me', 'fields=id')).toEqual({ status: 200, body: {} });
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
