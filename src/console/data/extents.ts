/** The first page grows with new items up to this number. */
const firstPageMax = 1_000;

/** A page of a list. */
export interface LoadedPage<Item> {
  readonly items: readonly Item[];
  /** Cursor of the next page; null: it is the last one. */
  readonly next: string | null;
}

/** What stays known of a page that is no longer kept. */
export interface Extent {
  readonly length: number;
  readonly next: string | null;
}

/** The number of the page with the item; of the next page to read when it is after all that is known. */
export function pageAt(extents: readonly Extent[], index: number): number {
  let end = 0;
  const found = extents.findIndex(({ length }) => (end += length) > index);
  if (found !== -1) return found;
  return extents.at(-1)?.next === null ? extents.length - 1 : extents.length;
}

/** Number of the items before the page. */
export const startOfPage = (extents: readonly Extent[], number: number): number =>
  extents.slice(0, number).reduce((sum, { length }) => sum + length, 0);

/** Null: the first page. */
export const cursorBefore = (extents: readonly Extent[], number: number): string | null =>
  extents[number - 1]?.next ?? null;

/** Pages after one that ends elsewhere than before are forgotten. */
export function withExtent(
  extents: readonly Extent[],
  number: number,
  extent: Extent,
): readonly Extent[] {
  const former = extents[number];
  if (former?.next !== extent.next) return [...extents.slice(0, number), extent];
  if (former.length === extent.length) return extents;
  return extents.map((one, at) => (at === number ? extent : one));
}

/**
 * The first page with what was on it after its last item: new items must not move the pages below. Without a common
 * item, and where no page follows, the fresh page alone.
 */
export function joined<Item>(
  fresh: LoadedPage<Item>,
  former: LoadedPage<Item>,
  keyOf: (item: Item) => string,
): LoadedPage<Item> {
  const last = fresh.items.at(-1);
  if (last === undefined || fresh.next === null) return fresh;
  const at = former.items.findIndex((item) => keyOf(item) === keyOf(last));
  const items = [...fresh.items, ...former.items.slice(at + 1)];
  return at === -1 || items.length > firstPageMax ? fresh : { items, next: former.next };
}
