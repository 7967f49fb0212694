import { describe, expect, it } from 'vitest';
import type { HostCalls, HttpCall } from '#ports/sandbox.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { outputOf, runGuest } from './guest.ts';

const sandbox = await sharedSandbox();

interface Page {
  readonly body?: unknown;
  /** In place of `body`. */
  readonly text?: string;
  readonly headers?: Record<string, string>;
}

/** Runs a loop over pages: the requests, the yielded values, and the arguments of `on_page`, in order. */
async function page(
  pages: readonly Page[],
  config: Record<string, unknown>,
  options: { defaults?: Record<string, unknown>; body?: string } = {},
) {
  const calls: HttpCall[] = [];
  const texts: string[] = [];
  const host: HostCalls = {
    http: async (args) => {
      const { body, text, headers = {} } = pages[calls.length] ?? { body: [] };
      texts.push(args);
      calls.push(JSON.parse(args) as HttpCall);
      const answer = {
        outcome: 'reply',
        status: 200,
        statusText: 'OK',
        headers,
        url: 'https://api.test/v2/items',
      };
      return { json: JSON.stringify(answer), body: text ?? JSON.stringify(body) };
    },
  };
  const loop =
    options.body ??
    `const seen = [];
     input.paginate.on_page = input.silent ? undefined : ({ nextPageParam, response }) => { seen.push(['on_page', nextPageParam ?? null, response.status]); };
     for await (const rows of svc.paginate(input)) seen.push(['rows', rows]);
     return seen;`;
  const input = { endpoint: '/items', paginate: {}, ...config };
  const context = { paginate: (options.defaults ?? null) as null };
  const seen = await outputOf(sandbox, loop, { host, input, context });
  return { calls, args: texts, seen: seen as unknown[] };
}

const rows = (...ids: number[]) => ids.map((id) => ({ id }));

describe('cursor', () => {
  const paginate = {
    type: 'cursor',
    cursor_name_in_request: 'after',
    cursor_path_in_response: 'meta.next',
    response_path: 'data.items',
    limit_name_in_request: 'limit',
    limit: 2,
  };
  const answer = (next: unknown, ...ids: number[]): Page => ({
    body: { data: { items: rows(...ids) }, meta: { next } },
  });

  it('params given as URLSearchParams stay, and the cursor takes the place of one of them', async () => {
    const body = `const params = new URLSearchParams({ q: 'x y', after: 'old' });
      const seen = [];
      for await (const rows of svc.paginate({ ...input, params })) seen.push(rows.length);
      return [...seen, params.toString()];`;
    const { calls, seen } = await page([answer('n1', 1, 2), answer('', 3)], { paginate }, { body });
    expect(calls.map(({ params }) => params)).toEqual([
      'q=x+y&after=old&limit=2',
      'q=x+y&after=n1&limit=2',
    ]);
    expect(seen).toEqual([2, 1, 'q=x+y&after=old']);
  });

  it('§6 where it stops, by cursor: there is none; on_page comes after the loop body', async () => {
    const { calls, seen } = await page([answer('n1', 1, 2), answer('', 3)], {
      paginate,
      params: { q: 'x' },
    });
    expect(calls.map(({ params }) => params)).toEqual([
      { q: 'x', limit: '2' },
      { q: 'x', limit: '2', after: 'n1' },
    ]);
    expect(seen).toEqual([
      ['rows', rows(1, 2)],
      ['on_page', 'n1', 200],
      ['rows', rows(3)],
      ['on_page', null, 200],
    ]);
  });

  it('§6 zero is a cursor; an empty page is not yielded, and the walk goes on behind it', async () => {
    const pages = [answer(0, 1), answer('n'), { body: { meta: { next: 'm' } } }, answer(null, 2)];
    const { calls, seen } = await page(pages, { paginate });
    expect(calls.map(({ params }) => (params as { after?: string }).after)).toEqual([
      undefined,
      '0',
      'n',
      'm',
    ]);
    expect(seen).toEqual([
      ['rows', rows(1)],
      ['on_page', 0, 200],
      ['on_page', 'n', 200],
      ['on_page', 'm', 200],
      ['rows', rows(2)],
      ['on_page', null, 200],
    ]);
  });

  it('an empty page that repeats its own cursor is the last', async () => {
    const { calls } = await page([answer('n', 1), answer('n')], { paginate });
    expect(calls).toHaveLength(2);
  });

  const circles = [['a'], ['a', 'b'], ['x', 'y', 'a', 'b', 'c']];
  it.each(circles)(
    'a cursor that returns ends the walk with an error: %j %j',
    async (...circle) => {
      const first = ['s', 't', 'u'];
      const next = [...first, ...Array.from({ length: 60 }, () => circle).flat()];
      const { calls, seen } = await page(
        next.map((cursor, at) => answer(cursor, at)),
        { paginate },
        {
          body: `let pages = 0;
          try { for await (const rows of svc.paginate(input)) pages += rows.length; }
          catch (error) { return [pages, error.code, error.message]; }`,
        },
      );
      expect(calls.length).toBeLessThan(30);
      expect(seen).toEqual([
        calls.length,
        'pages_repeat',
        expect.stringMatching(/^The next cursor "[a-z]" was requested before/),
      ]);
    },
  );

  it('a cursor above 2^53 keeps its digits, in the query and in a body', async () => {
    const text = '{"data":{"items":[{"id":1}]},"meta":{"next":9007199254740993}}';
    const pages = () => [{ text }, answer(null, 2)];
    const inQuery = await page(pages(), { paginate });
    expect(inQuery.calls[1]?.params).toMatchObject({ after: '9007199254740993' });
    expect(inQuery.seen[1]).toEqual(['on_page', '9007199254740993', 200]);
    const inBody = await page(pages(), { method: 'POST', paginate });
    expect(inBody.args[1]).toContain('"value":{"limit":2,"after":9007199254740993}');
  });

  it.each([[' '], [null], [{ a: 1 }], [true], [undefined]])('stops at %j', async (next) => {
    const { calls } = await page([answer(next, 1), answer(null, 2)], { paginate });
    expect(calls).toHaveLength(1);
  });

  it('§6 placement in the body of a POST, dotted names as nested objects, the data left alone', async () => {
    const nested = {
      ...paginate,
      cursor_name_in_request: 'variables.after',
      limit_name_in_request: 'variables.first',
    };
    const { calls } = await page([answer('n1', 1), answer(null, 2)], {
      method: 'POST',
      paginate: nested,
      data: { query: '{}', variables: { team: 't' } },
    });
    expect(calls.map(({ body }) => body)).toEqual([
      { kind: 'json', value: { query: '{}', variables: { team: 't', first: 2 } } },
      { kind: 'json', value: { query: '{}', variables: { team: 't', first: 2, after: 'n1' } } },
    ]);
  });

  it('§6 placement where in_body says', async () => {
    const inQuery = await page([answer('n', 1), answer(null, 2)], {
      method: 'POST',
      paginate: { ...paginate, in_body: false },
    });
    expect(inQuery.calls[1]).toMatchObject({
      params: { after: 'n', limit: '2' },
      body: { kind: 'none' },
    });
    const inBody = await page([answer('n', 1), answer(null, 2)], {
      method: 'DELETE',
      paginate: { ...paginate, in_body: true },
    });
    expect(inBody.calls[1]?.body).toEqual({ kind: 'json', value: { limit: 2, after: 'n' } });
  });

  it('§6 settings of the call over those of the provider, one by one', async () => {
    const defaults = { ...paginate, limit: 50, response_path: 'other' };
    const { calls, seen } = await page(
      [answer(null, 1)],
      { paginate: { limit: 7, response_path: 'data.items' } },
      { defaults },
    );
    expect(calls[0]?.params).toEqual({ limit: '7' });
    expect(seen[0]).toEqual(['rows', rows(1)]);
  });

  it('§6 on_page is skipped for the page at which the loop is left', async () => {
    const { calls, seen } = await page(
      [answer('n', 1), answer('m', 2), answer(null, 3)],
      { paginate },
      {
        body: `const seen = []; input.paginate.on_page = () => { seen.push('on_page'); };
        for await (const rows of svc.paginate(input)) { seen.push(rows[0].id); if (rows[0].id === 2) break; } return seen;`,
      },
    );
    expect(calls).toHaveLength(2);
    expect(seen).toEqual([1, 'on_page', 2]);
  });
});

describe('link', () => {
  const byBody = {
    type: 'link',
    link_path_in_response_body: 'next',
    response_path: 'items',
    limit_name_in_request: 'n',
    limit: 2,
  };

  it('§6 the next request by link: absolute links with their own base, no parameters; §6 empty pages are yielded', async () => {
    const { calls, seen } = await page(
      [
        { body: { items: rows(1), next: 'https://other.test/v2/items?page=2' } },
        { body: { items: [], next: '/v2/items?page=3' } },
        { body: { next: '' } },
      ],
      { paginate: byBody, params: { q: 'x' } },
    );
    expect(
      calls.map(({ baseUrlOverride, endpoint, params }) => [baseUrlOverride, endpoint, params]),
    ).toEqual([
      [undefined, '/items', { q: 'x', n: '2' }],
      ['https://other.test', '/v2/items?page=2', undefined],
      ['https://other.test', '/v2/items?page=3', undefined],
    ]);
    expect(calls.map(({ relativeTo }) => relativeTo)).toEqual([
      undefined,
      undefined,
      'https://api.test/v2/items',
    ]);
    expect(seen).toEqual([
      ['rows', rows(1)],
      ['on_page', 'https://other.test/v2/items?page=2', 200],
      ['rows', []],
      ['on_page', '/v2/items?page=3', 200],
      ['rows', []],
      ['on_page', null, 200],
    ]);
  });

  it.each([[{ next: '/items?page=2' }], [{ items: null, next: '/items?page=2' }]])(
    'a page without rows at the path, %j, is an empty page: the loop body gets a list',
    async (first) => {
      const { seen } = await page([{ body: first }, { body: { items: rows(1) } }], {
        paginate: { ...byBody, limit: undefined },
      });
      expect(seen.filter((row) => (row as unknown[])[0] === 'rows')).toEqual([
        ['rows', []],
        ['rows', rows(1)],
      ]);
    },
  );

  it('reads a link whose name holds dots, as OData has it', async () => {
    const link = 'https://crm.example/rows?skip=1';
    const first = { value: rows(1), '@odata.nextLink': link };
    const { calls } = await page([{ body: first }, { body: { value: rows(2) } }], {
      paginate: {
        type: 'link',
        link_path_in_response_body: '@odata.nextLink',
        response_path: 'value',
      },
    });
    expect(calls).toMatchObject([{}, { baseUrlOverride: 'https://crm.example' }]);
  });

  it('§6 where it stops, by link: at the same link twice', async () => {
    const same = { body: { items: rows(1), next: '/again' } };
    const { calls } = await page([same, same, same], { paginate: byBody });
    expect(calls).toHaveLength(2);
  });

  it('a circle of links ends with an error', async () => {
    const to = (next: string) => ({ body: { items: rows(1), next } });
    const body = `try { for await (const rows of svc.paginate(input)); } catch (error) { return [error.code]; }`;
    const { calls, seen } = await page(
      Array.from({ length: 40 }, (_, at) => to(at % 2 === 0 ? '/a' : '/b')),
      { paginate: byBody },
      { body },
    );
    expect(seen).toEqual(['pages_repeat']);
    expect(calls.length).toBeLessThan(10);
  });

  it.each([
    [{ href: '/next?p=2' }, '/next?p=2'],
    [{ href: null }, undefined],
    [{}, undefined],
    [null, undefined],
    [7, undefined],
    ['/a?t=${connectionConfig.secret}', '/a?t=$%7BconnectionConfig.secret}'],
  ])('a body with the next link %j leads to %j', async (next, endpoint) => {
    const { calls } = await page([{ body: { items: rows(1), next } }, { body: { items: [] } }], {
      paginate: byBody,
    });
    expect(calls[1]?.endpoint).toBe(endpoint);
  });

  it('reads the relation from the header', async () => {
    const link =
      '<https://a.test/p?x=1,2&y=;>; title="a, b"; rel="prev first", <https://a.test/p?x=3>; rel="last next"';
    const { calls } = await page([{ body: rows(1), headers: { link } }, { body: rows(2) }], {
      paginate: { type: 'link', link_rel_in_response_header: 'next' },
    });
    expect(calls[1]).toMatchObject({ baseUrlOverride: 'https://a.test', endpoint: '/p?x=3' });
    expect(calls).toHaveLength(2);
  });
});

describe('offset', () => {
  const paginate = {
    type: 'offset',
    offset_name_in_request: 'skip',
    limit_name_in_request: 'take',
    limit: 2,
  };

  it('§6 where it stops, by offset: a short page is the last, without on_page; rows are counted, as text in the query', async () => {
    const { calls, seen } = await page([{ body: rows(1, 2) }, { body: rows(3) }], { paginate });
    expect(calls.map(({ params }) => params)).toEqual([
      { take: '2', skip: '0' },
      { take: '2', skip: '2' },
    ]);
    expect(seen).toEqual([
      ['rows', rows(1, 2)],
      ['on_page', 0, 200],
      ['rows', rows(3)],
    ]);
  });

  it('§6 the offset counts pages from a start, as a number in the body', async () => {
    const { calls } = await page([{ body: rows(1, 2) }, { body: rows(3, 4) }, { body: [] }], {
      method: 'PUT',
      paginate: { ...paginate, offset_calculation_method: 'per-page', offset_start_value: 1 },
    });
    expect(calls.map(({ body }) => body)).toEqual(
      [1, 2, 3].map((skip) => ({ kind: 'json', value: { take: 2, skip } })),
    );
  });

  it('the same page again is an error: the provider does not read the offset', async () => {
    const body = `const seen = [];
      try { for await (const rows of svc.paginate(input)) seen.push(rows.length); }
      catch (error) { return [...seen, error.code]; }`;
    const pages = Array.from({ length: 9 }, () => ({ body: rows(1, 2) }));
    const { seen } = await page(pages, { paginate }, { body });
    expect(seen).toEqual([2, 'pages_repeat']);
  });

  it('goes on to an empty page when there is no limit', async () => {
    const { calls, seen } = await page([{ body: rows(1, 2, 3) }, { body: rows(4) }, { body: [] }], {
      paginate: { type: 'offset', offset_name_in_request: 'skip' },
      silent: true,
    });
    expect(calls.map(({ params }) => params)).toEqual([
      { skip: '0' },
      { skip: '3' },
      { skip: '4' },
    ]);
    expect(seen).toHaveLength(2);
  });
});

describe('settings', () => {
  it.each([
    [{}, 'There was no pagination configuration for this integration or configuration passed in.'],
    [{ type: 'other' }, 'is not one of cursor, link, offset'],
    [{ type: 'cursor', cursor_path_in_response: 'x' }, 'cursor_name_in_request'],
    [{ type: 'cursor', cursor_name_in_request: 'x' }, 'cursor_path_in_response'],
    [
      { type: 'cursor', cursor_name_in_request: 'x', cursor_path_in_response: 'y', limit: 5 },
      'limit_name_in_request',
    ],
    [{ type: 'link' }, 'link_rel_in_response_header'],
    [{ type: 'offset' }, 'offset_name_in_request'],
  ])('%j is refused before the first request', async (paginate, message) => {
    const body = 'for await (const rows of svc.paginate(input)) return rows;';
    const result = await runGuest(sandbox, body, { input: { endpoint: 'x', paginate } });
    expect(result).toMatchObject({
      error: { message: expect.stringContaining(message) as string },
    });
  });

  it('a failing page ends the loop with the error of the request', async () => {
    const host: HostCalls = {
      http: async () => ({
        json: '{"outcome":"reply","status":500,"statusText":"","headers":{},"url":"u"}',
        body: 'x',
      }),
    };
    const body = `for await (const rows of svc.paginate({ endpoint: 'x', retries: 2, paginate: { type: 'offset', offset_name_in_request: 'o' } })) return rows;`;
    expect(await runGuest(sandbox, body, { host })).toMatchObject({ error: { kind: 'http' } });
  });
});
