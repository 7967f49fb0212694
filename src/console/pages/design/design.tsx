import type { JSX } from 'preact';
import { Tabs } from '../../design/tabs.tsx';
import { Page } from '../../shell/page.tsx';
import { Controls } from './controls.tsx';
import { DataViews } from './data-views.tsx';
import { Overlays } from './overlays.tsx';
import { States } from './states.tsx';

/** Every component of the design system in all of its states. */
export function Design(): JSX.Element {
  return (
    <Page
      title="Design system"
      about="Every component in all of its states. Switch the theme above."
    >
      <Tabs
        label="Components"
        tabs={[
          { id: 'controls', label: 'Controls', content: <Controls /> },
          { id: 'data', label: 'Data', content: <DataViews /> },
          { id: 'overlays', label: 'Overlays', content: <Overlays /> },
          { id: 'states', label: 'States', content: <States /> },
        ]}
      />
    </Page>
  );
}
