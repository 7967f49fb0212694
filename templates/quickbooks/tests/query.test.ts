import { expect, it } from 'vitest';
import { changed } from '../query.js';

type Svc = Parameters<typeof changed>[0];
type SavedPosition = Parameters<Parameters<typeof changed>[1]['savePosition']>[0];

const pageSize = 1000;

/** Returns rows of a list by their position, as QuickBooks does. */
class Company {
  readonly asked: number[] = [];
  rows = Array.from({ length: pageSize * 2 + 1 }, (_, at) => ({ Id: String(at + 1) }));

  get svc(): Svc {
    const get = ({ params }: { params: { query: string } }) => {
      const start = Number(/ startposition (\d+) /.exec(params.query)?.[1]);
      this.asked.push(start);
      const Invoice = this.rows.slice(start - 1, start - 1 + pageSize);
      return Promise.resolve({ data: { QueryResponse: { Invoice } } });
    };
    return { get } as unknown as Svc;
  }

  /** Ids that are read from a position on; `onPage` is called after each page. */
  async read(position: SavedPosition, onPage: (saved: SavedPosition) => void = () => undefined) {
    const ids = new Set<string>();
    const pages = changed(this.svc, {
      entity: 'Invoice',
      where: [],
      since: '',
      position,
      savePosition: (saved) => {
        onPage(saved);
        return Promise.resolve();
      },
    });
    for await (const rows of pages) for (const { Id } of rows) ids.add(Id);
    return ids;
  }
}

it('reads each page from the last row of the one before', async () => {
  const company = new Company();
  expect(await company.read({})).toHaveLength(company.rows.length);
  expect(company.asked).toEqual([1, pageSize, pageSize * 2 - 1]);
});

it.each([
  ['a row of the page before', ['7']],
  ['its last row', [String(pageSize)]],
  ['all of its rows but one', Array.from({ length: pageSize - 1 }, (_, at) => String(at + 2))],
])('misses nothing where %s is deleted meanwhile', async (_, deleted) => {
  const company = new Company();
  let isDeleted = false;
  const ids = await company.read({}, () => {
    if (isDeleted) return;
    isDeleted = true;
    company.rows = company.rows.filter(({ Id }) => !deleted.includes(Id));
  });
  expect(company.rows.filter(({ Id }) => !ids.has(Id))).toEqual([]);
});

it('misses nothing where a row is deleted while a run is interrupted', async () => {
  const company = new Company();
  const saved: SavedPosition[] = [];
  await company.read({}, (position) => saved.push(position));
  company.rows = company.rows.slice(1);
  const ids = await company.read(saved[0] ?? {});
  expect(ids.has(String(pageSize + 1))).toBe(true);
});

it('goes on from a position of an earlier version, which has no id', async () => {
  const company = new Company();
  const ids = await company.read({ start: pageSize + 1 });
  expect(ids).toHaveLength(pageSize + 1);
});
