import { expect, it } from 'vitest';
import { queryPages, queryStart, type NotionList, type QueryPosition } from '../pages.js';

interface Row {
  id: number;
  created_time: string;
}

/** Two rows a page, three to a query, as the API cuts a query off. */
function notionWith(rows: Row[]) {
  return async (from: string, cursor = '0'): Promise<{ data: NotionList<Row> }> => {
    const found = rows.filter((row) => row.created_time >= from);
    const listed = found.slice(0, 3);
    const at = Number(cursor);
    const isLast = at + 2 >= listed.length;
    return {
      data: {
        results: listed.slice(at, at + 2),
        next_cursor: isLast ? null : String(at + 2),
        ...(isLast && found.length > 3 ? { request_status: { type: 'incomplete' } } : {}),
      },
    };
  };
}

const rows = [1, 2, 3, 4, 5, 6].map((id) => ({ id, created_time: `2026-01-0${id}` }));

async function idsOf(listed: Row[], first: QueryPosition = queryStart): Promise<Set<number>> {
  const ids = new Set<number>();
  for await (const page of queryPages<Row>(notionWith(listed), first)) {
    for (const { id } of page.rows) ids.add(id);
  }
  return ids;
}

it('asks for the rows behind those that a query lists', async () => {
  expect(await idsOf(rows)).toEqual(new Set([1, 2, 3, 4, 5, 6]));
});

it('goes on at every position', async () => {
  let before = 0;
  for await (const page of queryPages<Row>(notionWith(rows), queryStart)) {
    before += page.rows.length;
    if (page.position === null) continue;
    const rest = await idsOf(rows, page.position);
    expect(rest.has(6)).toBe(true);
    expect(rest.size).toBeGreaterThanOrEqual(rows.length - before);
  }
  expect(before).toBeGreaterThan(rows.length);
});

it('does not take a query for whole whose rows were created at once', async () => {
  const atOnce = rows.map(({ id }) => ({ id, created_time: '2026-01-01' }));
  await expect(idsOf(atOnce)).rejects.toThrow('all that was created at 2026-01-01');
});
