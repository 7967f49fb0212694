import type { JSX } from 'preact';
import { Link } from 'wouter-preact';

interface OpenLinkProps {
  readonly id: string;
  readonly text: string;
}

/** Opens the drawer of one thing of the list: the address names it, beside the filters. */
export function OpenLink({ id, text }: OpenLinkProps): JSX.Element {
  const search = new URLSearchParams(location.search);
  search.set('id', id);
  return (
    <Link href={`?${search.toString()}`} class="clip" title={text}>
      {text}
    </Link>
  );
}
