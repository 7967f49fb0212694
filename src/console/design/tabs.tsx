import { normalizeProps, useMachine } from '@zag-js/preact';
import * as tabs from '@zag-js/tabs';
import type { ComponentChildren, JSX } from 'preact';
import { useElementId } from './element-id.ts';

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
  const service = useMachine(tabs.machine, { id: useElementId(), defaultValue: list[0].id });
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
