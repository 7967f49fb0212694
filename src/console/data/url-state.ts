import { useSearchParams } from 'wouter-preact';

/** The filters of a page as they stand in its address, so that a link leads to the same list. */
export interface UrlState {
  /** Empty when it is not set. */
  readonly get: (name: string) => string;
  /** Undefined when it is not set: fields of that kind are not sent. */
  readonly sent: (name: string) => string | undefined;
  /** Replaces the address; an empty value removes the name. */
  readonly set: (values: Readonly<Record<string, string>>) => void;
  readonly isEmpty: boolean;
}

export function useUrlState(): UrlState {
  const [search, setSearch] = useSearchParams();
  return {
    get: (name) => search.get(name) ?? '',
    sent: (name) => search.get(name) ?? undefined,
    set: (values) =>
      setSearch(
        (current) => {
          const next = new URLSearchParams(current);
          for (const [name, value] of Object.entries(values))
            if (value === '') next.delete(name);
            else next.set(name, value);
          return next;
        },
        { replace: true },
      ),
    isEmpty: search.size === 0,
  };
}
