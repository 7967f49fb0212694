import type { ComponentChildren, JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { withFilters } from '../data/url-state.ts';

interface PageProps {
  readonly title: string;
  /** One sentence on what the page shows. */
  readonly about?: ComponentChildren;
  /** The pages above this one. */
  readonly crumbs?: readonly (readonly [text: string, href: string])[];
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Page({ title, about, crumbs = [], actions, children }: PageProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · svc`;
  }, [title]);
  return (
    <div class="page">
      <div class="page-head">
        <div class="grow">
          {crumbs.length > 0 && (
            <nav class="crumbs" aria-label="Above this page">
              {crumbs.map(([text, href]) => (
                <span key={href}>
                  <Link href={withFilters(href)}>{text}</Link> /
                </span>
              ))}
            </nav>
          )}
          <h1>{title}</h1>
          {about !== undefined && <p class="about">{about}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}
