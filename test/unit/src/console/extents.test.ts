import { describe, expect, it } from 'vitest';
import { cursorBefore, joined, pageAt, startOfPage, withExtent } from '#console/data/extents.ts';

const first = { length: 200, next: 'a' };
const second = { length: 150, next: 'b' };
const last = { length: 30, next: null };

describe('the pages of a list that is scrolled', () => {
  it('are found by an item, also the next one to read', () => {
    expect([-100, 0, 199, 200, 349].map((index) => pageAt([first, second], index))).toEqual([
      0, 0, 0, 1, 1,
    ]);
    expect(pageAt([first, second], 350)).toBe(2);
    expect(pageAt([first, second, last], 380)).toBe(2);
    expect(pageAt([], 0)).toBe(0);
    expect(startOfPage([first, second, last], 2)).toBe(350);
    expect([0, 1, 2].map((number) => cursorBefore([first, second], number))).toEqual([
      null,
      'a',
      'b',
    ]);
  });

  it('are forgotten behind a page that ends elsewhere than before', () => {
    const all = [first, second, last];
    expect(withExtent(all, 3, last)).toEqual([...all, last]);
    expect(withExtent(all, 1, { length: 150, next: 'b' })).toBe(all);
    expect(withExtent(all, 0, { length: 201, next: 'a' })).toEqual([
      { length: 201, next: 'a' },
      second,
      last,
    ]);
    expect(withExtent(all, 0, { length: 200, next: 'c' })).toEqual([{ length: 200, next: 'c' }]);
  });
});

describe('the first page, read again', () => {
  const keyOf = (item: string): string => item.slice(0, 1);
  const pageOf = (text: string, next: string | null = null) => ({ items: text.split(' '), next });

  it('has new and changed items, and ends where it ended before', () => {
    const former = pageOf('d1 c1 b1 a1', 'a');
    expect(joined(pageOf('f1 e1 d2 c1', 'c'), former, keyOf)).toEqual(
      pageOf('f1 e1 d2 c1 b1 a1', 'a'),
    );
  });

  it('has no item that is gone', () => {
    const former = pageOf('d1 c1 b1 a1', 'a');
    expect(joined(pageOf('d1 b1', 'b'), former, keyOf)).toEqual(pageOf('d1 b1 a1', 'a'));
    expect(joined(pageOf('d1 b1'), former, keyOf)).toEqual(pageOf('d1 b1'));
  });

  it('takes the place of a former one without a common last item', () => {
    const fresh = pageOf('h1 g1 f1 e1', 'e');
    expect(joined(fresh, pageOf('d1 c1 b1 a1', 'a'), keyOf)).toBe(fresh);
    expect(joined({ items: [], next: null }, pageOf('a1'), keyOf).items).toEqual([]);
  });

  it('grows up to a bound', () => {
    const items = (from: number, count: number) =>
      Array.from({ length: count }, (_, at) => String(from - at));
    const former = { items: items(999, 900), next: 'end' };
    const fresh = { items: items(1_199, 201), next: '999' };
    expect(joined(fresh, former, (item) => item)).toBe(fresh);
  });
});
