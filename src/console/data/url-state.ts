import { useEffect } from 'preact/hooks';
import { useLocation, useSearchParams } from 'wouter-preact';

/** The filters of a page as they stand in its address, so that a link leads to the same list. */
export interface UrlState {
  /** Empty when it is not set. */
  readonly get: (name: string) => string;
  /** Undefined when it is not set: fields of that kind are not sent. */
  readonly sent: (name: string) => string | undefined;
  /** Replaces the address; an empty value removes the name. */
  readonly set: (values: Readonly<Record<string, string>>) => void;
  /** Whether no filter is set. */
  readonly isEmpty: boolean;
  /** Removes the filters. */
  readonly clear: () => void;
}

/** Names in the address that filter nothing: an item that is open, and the order. */
const opened = ['id', 'message'];
const others = [...opened, 'sort'];

export function useUrlState(): UrlState {
  const [path] = useLocation();
  const [search, setSearch] = useSearchParams();
  useEffect(() => keepFilters(path, search), [path, search]);
  const change = (edit: (next: URLSearchParams) => void): void =>
    setSearch(
      (current) => {
        const next = new URLSearchParams(current);
        edit(next);
        return next;
      },
      { replace: true },
    );
  const names = [...search.keys()].filter((name) => !others.includes(name));
  return {
    get: (name) => search.get(name) ?? '',
    sent: (name) => search.get(name) ?? undefined,
    set: (values) =>
      change((next) => {
        for (const [name, value] of Object.entries(values))
          if (value === '') next.delete(name);
          else next.set(name, value);
      }),
    isEmpty: names.length === 0,
    clear: () => change((next) => names.forEach((name) => next.delete(name))),
  };
}

/** By the path of a page: its filters when it was last open in this tab. */
const kept = new Map<string, string>();

function keepFilters(path: string, search: URLSearchParams): void {
  const filters = new URLSearchParams(search);
  for (const name of opened) filters.delete(name);
  kept.set(path, filters.toString());
}

/** The address of a page with the filters that it last had. */
export function withFilters(href: string): string {
  const filters = kept.get(href) ?? '';
  return filters === '' ? href : `${href}?${filters}`;
}
