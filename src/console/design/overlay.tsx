import * as dialog from '@zag-js/dialog';
import { normalizeProps, useMachine } from '@zag-js/preact';
import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { Portal } from './portal.tsx';

interface OverlayProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  /** Class of the box and of what places it. */
  readonly kind: 'dialog' | 'dialog wide' | 'drawer' | 'drawer start';
  readonly isAlert?: boolean;
  /** What has the focus first; absent: the first control. */
  readonly initialFocus?: () => HTMLElement | null;
  readonly onClose: () => void;
}

/** A box over the page that keeps the focus; Escape closes it. Rendered only while it is open. */
function Overlay(props: OverlayProps): JSX.Element {
  const { title, children, kind, isAlert = false, initialFocus, onClose } = props;
  const service = useMachine(dialog.machine, {
    id: useId(),
    open: true,
    role: isAlert ? 'alertdialog' : 'dialog',
    ...(initialFocus === undefined ? {} : { initialFocusEl: initialFocus }),
    onOpenChange: ({ open }) => {
      if (!open) onClose();
    },
  });
  const api = dialog.connect(service, normalizeProps);
  const [box, ...rest] = kind.split(' ');
  return (
    <Portal>
      <div {...api.getBackdropProps()} class="scrim" />
      <div {...api.getPositionerProps()} class={`${box}-position ${rest.join(' ')}`}>
        <div {...api.getContentProps()} class={kind}>
          <div class="overlay-head">
            <h2 {...api.getTitleProps()}>{title}</h2>
            <IconButton icon="close" label="Close" onPress={onClose} />
          </div>
          {children}
        </div>
      </div>
    </Portal>
  );
}

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
  readonly isAlert?: boolean;
  readonly initialFocus?: () => HTMLElement | null;
  readonly onClose: () => void;
}

export function Dialog({ isWide = false, ...rest }: DialogProps): JSX.Element {
  return <Overlay {...rest} kind={isWide ? 'dialog wide' : 'dialog'} />;
}

interface DrawerProps {
  readonly title: ComponentChildren;
  readonly children: ComponentChildren;
  readonly side?: 'start' | 'end';
  readonly onClose: () => void;
}

/** A panel at a side of the page, for details of what the page lists. */
export function Drawer({ side = 'end', ...rest }: DrawerProps): JSX.Element {
  return <Overlay {...rest} kind={side === 'end' ? 'drawer' : 'drawer start'} />;
}
