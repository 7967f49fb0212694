import { describe, expect, it } from 'vitest';
import { parseFixture } from '#fake-providers/objects/fixture.ts';
import { ObjectApi } from '#fake-providers/objects/object-api.ts';

const fixture = parseFixture({
  documentation: ['https://provider.test/changes'],
  checked_at: '2026-11-27',
  lists: [
    {
      endpoint: '/changes',
      shows: 'all',
      documents: 'changes',
      entry: { id: 'fileId', document: 'file', deleted: { removed: true } },
      pagination: { type: 'cursor', name: 'pageToken', path: 'nextPageToken' },
      delta: { name: 'pageToken', path: 'newStartPageToken' },
    },
  ],
  documents: [{ id: '1' }, { id: '2' }, { id: '3' }],
  deletes: { type: 'absent' },
  exchanges: [
    { method: 'GET', endpoint: '/start', response: { body: { startPageToken: '{token}' } } },
  ],
});

describe('a list of changes', () => {
  it('begins at a token in the parameter of its cursor, and shows deletions without document', () => {
    const api = new ObjectApi(new Map([['files', fixture]]));
    api.pageMax = 1;
    const get = (path: string) => {
      const url = new URL(`https://provider.test${path}`);
      const request = { role: 'api', method: 'GET', url, headers: {}, body: '' } as const;
      return api.answer(request, url.pathname).body as Record<string, string>;
    };
    const { startPageToken } = get('/start');
    api.dataset('files').change([{ id: '2', name: 'Plan' }]);
    api.dataset('files').delete(['3']);
    const first = get(`/changes?pageToken=${startPageToken}`);
    expect(first).toEqual({
      changes: [{ fileId: '2', file: { id: '2', name: 'Plan' } }],
      nextPageToken: expect.any(String) as string,
    });
    const last = get(`/changes?pageToken=${first['nextPageToken']}`);
    expect(last).toEqual({
      changes: [{ fileId: '3', removed: true }],
      newStartPageToken: expect.any(String) as string,
    });
    expect(get(`/changes?pageToken=${last['newStartPageToken']}`)['changes']).toEqual([]);
  });
});

describe('a list in the order of changes', () => {
  it('shows the document that was changed first', () => {
    const ordered = parseFixture({
      documentation: ['https://provider.test/changes'],
      checked_at: '2026-11-27',
      lists: [
        {
          endpoint: '/tickets',
          documents: 'data',
          pagination: { type: 'none' },
          changed: 'updated_at',
          orders: [{ params: { sort: 'updated' }, field: 'updated_at', is_descending: true }],
        },
      ],
      documents: ['1', '2', '3'].map((id) => ({ id, updated_at: `2026-01-0${id}T08:00:00Z` })),
      deletes: { type: 'absent' },
    });
    const api = new ObjectApi(new Map([['tickets', ordered]]));
    api.dataset('tickets').change([{ id: '1' }]);
    const url = new URL('https://provider.test/tickets?sort=updated');
    const request = { role: 'api', method: 'GET', url, headers: {}, body: '' } as const;
    const { body } = api.answer(request, url.pathname);
    expect(body).toMatchObject({ data: [{ id: '1' }, { id: '3' }, { id: '2' }] });
  });
});
