import type { Sort } from '../design/table.tsx';
import { useUrlState } from './url-state.ts';

/**
 * The order of a table as it stands in the address: `sort=Name`, `sort=-Name`. A press on a header sorts, another one
 * turns the order, a third ends it.
 */
export function useSort(name = 'sort'): Sort {
  const filters = useUrlState();
  const text = filters.get(name);
  const isDescending = text.startsWith('-');
  const title = isDescending ? text.slice(1) : text;
  return {
    title: title === '' ? null : title,
    isDescending,
    onSort(pressed) {
      const next = { unsorted: pressed, ascending: `-${pressed}`, descending: '' };
      const order = isDescending ? 'descending' : 'ascending';
      filters.set({ [name]: next[pressed === title ? order : 'unsorted'] });
    },
  };
}
