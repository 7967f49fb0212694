import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Button } from '../../design/button.tsx';
import { Confirm } from '../../design/confirm.tsx';
import { Menu } from '../../design/menu.tsx';
import { Dialog, Drawer } from '../../design/overlay.tsx';
import { toast } from '../../design/toast.tsx';
import { Section } from './section.tsx';

type OverlayName = 'dialog' | 'confirm' | 'drawer' | null;

export function Overlays(): JSX.Element {
  const [shown, setShown] = useState<OverlayName>(null);
  const close = (): void => setShown(null);
  return (
    <Section title="Overlays">
      <div class="row">
        <Button onPress={() => setShown('dialog')}>Dialog</Button>
        <Button onPress={() => setShown('confirm')}>Question</Button>
        <Button onPress={() => setShown('drawer')}>Drawer</Button>
        <Button onPress={() => toast('It was done')}>Message</Button>
        <Button onPress={() => toast('It did not work: the service refused it.', 'bad')}>
          Failure
        </Button>
        <Menu
          label="Menu"
          items={[
            { id: 'a', label: 'An action', icon: 'play', onSelect: () => toast('An action') },
            { id: 'b', label: 'Not now', isDisabled: true, onSelect: () => undefined },
            { id: 'c', label: 'Delete', icon: 'close', isDangerous: true, onSelect: close },
          ]}
        />
      </div>
      {shown === 'dialog' && (
        <Dialog title="Dialog" onClose={close}>
          <p>Escape closes it, and the focus returns.</p>
        </Dialog>
      )}
      {shown === 'confirm' && (
        <Confirm
          title="Delete the example?"
          verb="Delete the example"
          isDangerous
          typed="example"
          isBusy={false}
          failure={{
            message: 'The example is in use.',
            code: 'in_use',
            fix: 'Delete what uses it first.',
            requestId: 'r-1',
          }}
          onConfirm={close}
          onClose={close}
        >
          <p>It cannot be undone.</p>
        </Confirm>
      )}
      {shown === 'drawer' && (
        <Drawer title="Drawer" onClose={close}>
          <p>Details of what the page lists.</p>
        </Drawer>
      )}
    </Section>
  );
}
