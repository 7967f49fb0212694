import { normalizeProps, useMachine } from '@zag-js/preact';
import * as tabs from '@zag-js/tabs';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { Link } from 'wouter-preact';

interface Tab {
  readonly id: string;
  readonly label: string;
  readonly content: ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly tabs: readonly [Tab, ...Tab[]];
}

/** Panels within a page. */
export function Tabs({ label, tabs: list }: TabsProps): JSX.Element {
  const service = useMachine(tabs.machine, { id: useId(), defaultValue: list[0].id });
  const api = tabs.connect(service, normalizeProps);
  return (
    <div {...api.getRootProps()} class="stack">
      <div {...api.getListProps()} class="tab-list" aria-label={label}>
        {list.map(({ id, label: text }) => (
          <button key={id} {...api.getTriggerProps({ value: id })}>
            {text}
          </button>
        ))}
      </div>
      {list.map(({ id, content }) => (
        <div key={id} {...api.getContentProps({ value: id })}>
          {api.value === id && content}
        </div>
      ))}
    </div>
  );
}

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
