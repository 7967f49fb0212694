import { describe, expect, it } from 'vitest';
import { changedContacts } from '../changes.js';
import type { AircallContact } from '../contact.js';

const pageSize = 50;

/** A list in which every contact was changed at `changedAt`, from a page on. */
function listOf(count: number, changedAt: number) {
  return {
    async *paginate<Row>(): AsyncGenerator<Row[], undefined> {
      await Promise.resolve();
      for (let first = 0; first < count; first += pageSize) {
        const rows: AircallContact[] = Array.from({ length: pageSize }, (_, index) => ({
          id: first + index,
          created_at: changedAt,
          updated_at: changedAt,
        }));
        yield rows as Row[];
      }
    },
  };
}

async function isCut(count: number, page: string | undefined): Promise<boolean> {
  let cut = false;
  const pages = changedContacts(listOf(count, 200), {
    since: 100,
    page,
    savePosition: () => Promise.resolve(),
    onCut: () => {
      cut = true;
    },
  });
  for await (const contacts of pages) expect(contacts).toHaveLength(pageSize);
  return cut;
}

describe('aircall-basic/changes', () => {
  it.each([
    { count: 9_950, page: undefined, cut: false },
    { count: 10_000, page: undefined, cut: true },
    { count: 5_000, page: 'https://api.aircall.io/v1/contacts?page=101&per_page=50', cut: true },
    { count: 5_000, page: 'https://api.aircall.io/v1/contacts?page=100&per_page=50', cut: false },
  ])('knows whether $count contacts from $page on are all', async ({ count, page, cut }) => {
    expect(await isCut(count, page)).toBe(cut);
  });
});
