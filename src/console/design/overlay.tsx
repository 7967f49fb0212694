import type { ComponentChildren, ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { OverlayProps } from './overlay-box.tsx';
import { toast } from './toast.tsx';

/** Null until an overlay was shown: most visits of a page open none. */
let Box: ComponentType<OverlayProps> | null = null;

/** Shows a box over the page; its script is loaded at the first use. */
function Overlay(props: OverlayProps): JSX.Element | null {
  const [isLoaded, setLoaded] = useState(Box !== null);
  useEffect(() => {
    if (isLoaded) return undefined;
    let isShown = true;
    import('./overlay-box.tsx').then(
      (script) => {
        Box = script.OverlayBox;
        if (isShown) setLoaded(true);
      },
      () => {
        if (!isShown) return;
        toast('The window could not be loaded. Try again.', 'bad');
        props.onClose();
      },
    );
    return () => {
      isShown = false;
    };
  }, []);
  return isLoaded && Box !== null ? <Box {...props} /> : null;
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
