import { describe, expect, it } from 'vitest';
import type { ConnectionUid, EnvironmentUid } from '#kernel/ids.ts';
import { pageKey, type PageQuery } from '#modules/records/read/reader.ts';

const query: PageQuery = {
  stream: {
    environmentUid: 'env' as EnvironmentUid,
    connectionUid: 'con' as ConnectionUid,
    model: 'Contact',
    variant: 'base',
  },
  cursor: null,
  modifiedAfter: null,
  actions: null,
  ids: null,
  limit: 100,
};

/** A second value of each field. Without a line for a new field this does not compile. */
const changes: { readonly [Name in keyof Required<PageQuery>]: PageQuery[Name] } = {
  stream: { ...query.stream, variant: 'eu' },
  cursor: 'a cursor',
  modifiedAfter: '2026-11-26T00:00:00Z',
  actions: ['ADDED'],
  ids: ['1'],
  limit: 1,
};

describe('the key of a page', () => {
  it.each(['stream', 'modifiedAfter', 'actions', 'ids'] as const)('differs by %s', (name) => {
    expect(pageKey({ ...query, [name]: changes[name] })).not.toBe(pageKey(query));
  });

  it.each(['cursor', 'limit'] as const)('is the same for any %s', (name) => {
    expect(pageKey({ ...query, [name]: changes[name] })).toBe(pageKey(query));
  });

  it('has no order of actions', () => {
    expect(pageKey({ ...query, actions: ['ADDED', 'DELETED'] })).toBe(
      pageKey({ ...query, actions: ['DELETED', 'ADDED'] }),
    );
  });
});
