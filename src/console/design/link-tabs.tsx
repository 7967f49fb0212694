import type { JSX } from 'preact';
import { Link } from 'wouter-preact';

interface LinkTabsProps {
  readonly label: string;
  readonly current: string;
  readonly tabs: readonly { readonly id: string; readonly label: string; readonly href: string }[];
}

/** Tabs that are pages: each has an address of its own. */
export function LinkTabs({ label, current, tabs: list }: LinkTabsProps): JSX.Element {
  return (
    <nav class="tab-list" aria-label={label}>
      {list.map(({ id, label: text, href }) => (
        <Link key={id} href={href} aria-current={id === current ? 'page' : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}
