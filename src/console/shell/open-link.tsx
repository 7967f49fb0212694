import type { JSX } from 'preact';
import { Link } from 'wouter-preact';

interface OpenLinkProps {
  /** Name in the address: `id` unless the page lists things of two kinds. */
  readonly name?: string;
  readonly id: string;
  readonly text: string;
}

/** Opens the drawer of one thing of the list: the address names it, beside the filters. */
export function OpenLink({ name = 'id', id, text }: OpenLinkProps): JSX.Element {
  const search = new URLSearchParams(location.search);
  search.set(name, id);
  // Without `~` the router would prepend the base path once more.
  return (
    <Link href={`~${location.pathname}?${search.toString()}`} class="clip" title={text}>
      {text}
    </Link>
  );
}
