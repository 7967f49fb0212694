import * as dialog from '@zag-js/dialog';
import { normalizeProps, useMachine } from '@zag-js/preact';
import type { ComponentChildren, JSX } from 'preact';
import { IconButton } from './button.tsx';
import { useElementId } from './element-id.ts';
import { Portal } from './portal.tsx';

export interface OverlayProps {
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
export function OverlayBox(props: OverlayProps): JSX.Element {
  const { title, children, kind, isAlert = false, initialFocus, onClose } = props;
  const service = useMachine(dialog.machine, {
    id: useElementId(),
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
