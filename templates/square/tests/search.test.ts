import { expect, it } from 'vitest';
import { searchedFrom } from '../search.js';

type Svc = Parameters<typeof searchedFrom>[0];

const refused = 400;

/** Answers as Square does: a cursor that it no longer has is refused. */
function squareWith(
  pages: ReadonlyMap<string | undefined, { objects: string[]; cursor?: string }>,
) {
  const asked: (string | undefined)[] = [];
  const post = async ({ data: { cursor } }: { data: { cursor?: string } }) => {
    asked.push(cursor);
    const data = pages.get(cursor);
    if (data === undefined)
      throw Object.assign(new Error('refused'), { response: { status: refused } });
    return Promise.resolve({ data });
  };
  return { svc: { post } as unknown as Svc, asked };
}

const pages = new Map([
  [undefined, { objects: ['a'], cursor: 'second' }],
  ['second', { objects: ['b'] }],
]);

async function idsFrom(svc: Svc, first: string | undefined): Promise<string[]> {
  const ids: string[] = [];
  const search = { endpoint: '/v2/catalog/search', data: { limit: 1000 }, path: 'objects' };
  for await (const { page } of searchedFrom<string>(svc, first, search)) ids.push(...page.rows);
  return ids;
}

it('goes on at a cursor', async () => {
  const { svc, asked } = squareWith(pages);
  expect(await idsFrom(svc, 'second')).toEqual(['b']);
  expect(asked).toEqual(['second']);
});

it('begins again where the cursor of an interrupted run is refused', async () => {
  const { svc, asked } = squareWith(pages);
  expect(await idsFrom(svc, 'old')).toEqual(['a', 'b']);
  expect(asked).toEqual(['old', undefined, 'second']);
});
