import type { Options } from 'minisearch';

/** What lies below one heading. */
export interface SearchSection {
  /** Its place in the site, such as `records/#reading-on`. */
  readonly id: string;
  /** Of the page. */
  readonly title: string;
  /** Empty for what stands before the first one. */
  readonly heading: string;
  readonly body: string;
  /** Factor of the score. */
  readonly weight: number;
}

/** Of the index, as it is built and as it is read. */
export const searchOptions: Options<SearchSection> = {
  fields: ['title', 'heading', 'body'],
  storeFields: ['title', 'heading', 'body', 'weight'],
  searchOptions: {
    boost: { title: 4, heading: 3 },
    combineWith: 'AND',
    prefix: true,
    fuzzy: (term) => (term.length > 4 ? 0.2 : false),
    boostDocument: (_id, _term, stored) => Number(stored?.['weight'] ?? 1),
  },
};
