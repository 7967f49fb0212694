import { expect, it } from 'vitest';
import { listed } from '../lists.js';

interface Invoice {
  id: string;
}

/** Pages of two, the newest first. A page after what is gone is refused as Stripe refuses it. */
function stripeWith(ids: string[], afterFirstPage: () => void) {
  const asked: (string | undefined)[] = [];
  const get = async ({ params }: { params: { starting_after: string | undefined } }) => {
    const after = params.starting_after;
    asked.push(after);
    if (after !== undefined && !ids.includes(after)) {
      const refusal = { code: 'resource_missing', param: 'starting_after' };
      throw Object.assign(new Error('400'), {
        response: { status: 400, data: { error: refusal } },
      });
    }
    const from = after === undefined ? 0 : ids.indexOf(after) + 1;
    const data = ids.slice(from, from + 2).map((id) => ({ id }));
    const answer = { data: { data, has_more: from + 2 < ids.length } };
    if (asked.length === 1) afterFirstPage();
    return Promise.resolve(answer);
  };
  return { svc: { get } as unknown as Parameters<typeof listed>[0], asked };
}

async function idsOf(pages: AsyncGenerator<Invoice[]>): Promise<string[]> {
  const ids: string[] = [];
  for await (const page of pages) ids.push(...page.map(({ id }) => id));
  return ids;
}

it('begins again where an interrupted run stopped at what is deleted', async () => {
  const { svc, asked } = stripeWith(['in_3', 'in_1'], () => {});
  expect(await idsOf(listed<Invoice>(svc, '/v1/invoices', 'in_2'))).toEqual(['in_3', 'in_1']);
  expect(asked).toEqual(['in_2', undefined]);
});

it('begins again when the last of a page is deleted before the next page', async () => {
  const ids = ['in_4', 'in_3', 'in_2', 'in_1'];
  const { svc } = stripeWith(ids, () => ids.splice(1, 1));
  const read = await idsOf(listed<Invoice>(svc, '/v1/invoices', undefined));
  expect(new Set(read)).toEqual(new Set(['in_4', 'in_3', 'in_2', 'in_1']));
});
