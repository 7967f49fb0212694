import { expect, it } from 'vitest';
import { pagesFrom } from '../../shared/page-tokens.js';

const list = new Map([
  [undefined, { ids: ['a'], nextPageToken: 'second' }],
  ['second', { ids: ['b'] }],
]);

/** Answers as Google does: a token that it does not know is refused. */
async function ask(pageToken: string | undefined) {
  const data: { ids: string[]; nextPageToken?: string } | undefined = list.get(pageToken);
  if (data === undefined) throw Object.assign(new Error('refused'), { response: { status: 400 } });
  return { data };
}

async function idsFrom(first: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { page } of pagesFrom(first, ask)) ids.push(...page.ids);
  return ids;
}

it('goes on at the page of a token', async () => {
  expect(await idsFrom('second')).toEqual(['b']);
});

it('begins again where the token of an interrupted run is refused', async () => {
  expect(await idsFrom('old')).toEqual(['a', 'b']);
});

it('throws a refusal of the first page on', async () => {
  list.delete(undefined);
  await expect(idsFrom('')).rejects.toThrow('refused');
});
