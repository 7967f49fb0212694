import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Services } from '#api/services.ts';
import type { Caller } from '#http/define-route.ts';
import { parseQuery } from '#http/query.ts';
import { recordRoutes } from '#modules/records/api/routes.ts';
import type { PageQuery } from '#modules/records/read/reader.ts';

const [list, prune] = recordRoutes;
const accepts = (schema: unknown, value: unknown): boolean =>
  (schema as z.ZodType).safeParse(value).success;
const query = (text: string): unknown => (list?.query as z.ZodType).parse(parseQuery(text));

const headers = { 'connection-id': 'customer-1', 'provider-config-key': 'crm' };
const connection = {
  uid: 'uid-1',
  integrationKey: 'crm',
  connectionId: 'customer-1',
  isDeleting: false,
};

/** Services of which only the records' and the view's questions are answered. */
function services(answers: {
  page?: (query: PageQuery) => void;
  prune?: { count: number; lastPosition: number | null };
  isUnknown?: true;
}): Services {
  const find = () => (answers.isUnknown ? null : connection);
  const partial = {
    control: { view: { find, findBy: () => null, caughtUp: () => Promise.resolve() } },
    declaredModels: { find: () => ({ all: new Set(['Contact']), synced: ['Contact'] }) },
    records: {
      reader: {
        page: (asked: PageQuery) => {
          answers.page?.(asked);
          const body = Buffer.from('{"records":[],"next_cursor":null}');
          return Promise.resolve({ body, records: 0, nextCursor: null, hasStream: true });
        },
        positionOf: () => Promise.resolve(250),
      },
      writer: { prune: () => Promise.resolve(answers.prune) },
    },
  };
  return partial as unknown as Services;
}

const caller = { environmentUid: 'env-1', actor: 'key:1' } as Caller;
const call = (route: typeof list, input: object, given: Services) =>
  route!.handle({
    query: {},
    body: {},
    params: {},
    headers,
    caller,
    services: given,
    address: '127.0.0.1',
    signal: new AbortController().signal,
    ...input,
  });

describe('GET /records', () => {
  it.each([
    'model=Contact',
    'model=Contact&limit=1',
    'model=Contact&limit=10000&variant=eu&cursor=abc',
    'model=Contact&modified_after=2026-02-01T08:00:00%2B01:00',
    'model=Contact&delta=2026-02-01T08:00:00.123456Z',
    'model=Contact&filter=Added,UPDATED,deleted',
    'model=Contact&ids=a',
    'model=Contact&ids=a&ids=b',
    'model=Contact&ids[]=a',
    `model=Contact&ids=${'x'.repeat(256)}`,
  ])('accepts %s', (text) => {
    expect(accepts(list?.query, parseQuery(text))).toBe(true);
  });

  it.each([
    '',
    'model=contact',
    'model=Contact&model=Other',
    'model=Contact&limit=0',
    'model=Contact&limit=10001',
    'model=Contact&limit=1.5',
    'model=Contact&limit=1&limit=2',
    'model=Contact&cursor=',
    `model=Contact&cursor=${'x'.repeat(1001)}`,
    'model=Contact&modified_after=yesterday',
    'model=Contact&modified_after=2026-02-01T08:00:00',
    'model=Contact&filter=gone',
    'model=Contact&filter=added,',
    'model=Contact&ids=',
    `model=Contact&ids=${'x'.repeat(257)}`,
    `model=Contact${'&ids=a'.repeat(101)}`,
    'model=Contact&other=1',
  ])('refuses %s', (text) => {
    expect(accepts(list?.query, parseQuery(text))).toBe(false);
  });

  it('asks with defaults, the old name of the time first', async () => {
    const asked: PageQuery[] = [];
    const given = services({ page: (one) => asked.push(one) });
    await call(list, { query: query('model=Contact') }, given);
    const both = 'model=Contact&delta=2026-02-01T08:00:00Z&modified_after=2026-03-01T08:00:00Z';
    await call(list, { query: query(`${both}&variant=base&filter=added,ADDED&ids=1`) }, given);
    const stream = {
      environmentUid: 'env-1',
      connectionUid: 'uid-1',
      integration: 'crm',
      connectionId: 'customer-1',
      model: 'Contact',
      variant: 'base',
    };
    const nothing = { cursor: null, modifiedAfter: null, actions: null, ids: null };
    expect(asked).toEqual([
      { ...nothing, stream, limit: 100 },
      {
        ...nothing,
        stream,
        limit: 100,
        modifiedAfter: '2026-02-01T08:00:00Z',
        actions: ['ADDED'],
        ids: ['1'],
      },
    ]);
  });

  it('answers 400 for a connection that is not there', async () => {
    const unknown = services({ isUnknown: true });
    await expect(call(list, { query: query('model=Contact') }, unknown)).rejects.toMatchObject({
      code: 'unknown_connection',
      status: 400,
    });
  });

  it('takes no record scope but reading', () => {
    expect(list?.scopes).toEqual(['environment:records:read']);
    expect(prune?.scopes).toEqual(['environment:records:write']);
  });
});

describe('PATCH /records/prune', () => {
  const body = { model: 'Contact', until_cursor: 'abc' };

  it.each([
    [body, true],
    [{ ...body, variant: 'eu', limit: 10_000 }, true],
    [{ model: 'Contact' }, false],
    [{ ...body, limit: 0 }, false],
    [{ ...body, limit: '5' }, false],
    [{ ...body, other: 1 }, false],
  ])('judges %j: %s', (sent, isValid) => {
    expect(accepts(prune?.body, sent)).toBe(isValid);
  });

  it.each([
    [
      { count: 10, lastPosition: 200 },
      { count: 10, has_more: true },
    ],
    [
      { count: 10, lastPosition: 250 },
      { count: 10, has_more: false },
    ],
    [
      { count: 0, lastPosition: null },
      { count: 0, has_more: false },
    ],
  ])('answers %j with %j', async (done, answer) => {
    const given = services({ prune: done });
    expect(await call(prune, { body }, given)).toEqual({ status: 200, body: answer });
  });
});
