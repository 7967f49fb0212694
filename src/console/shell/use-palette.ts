import type { ComponentType } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { toast } from '../design/toast.tsx';

export type PaletteProps = Parameters<typeof import('./palette.tsx').Palette>[0];

/** Loads the search at its first use, and opens it by Ctrl-K as well. */
export function usePalette() {
  const [Palette, setPalette] = useState<ComponentType<PaletteProps> | null>(null);
  const [isOpen, setOpen] = useState(false);
  const wasOpen = useRef(isOpen);
  wasOpen.current = isOpen;
  /** Letters of people who type on while the script is loaded; null: it is not. */
  const typed = useRef<string | null>(null);
  const takeTyped = (): string => {
    const text = typed.current ?? '';
    typed.current = null;
    return text;
  };
  const open = (): void => {
    if (wasOpen.current) return;
    typed.current ??= '';
    import('./palette.tsx').then(
      (script) => {
        setPalette(() => script.Palette);
        setOpen(true);
      },
      () => {
        takeTyped();
        toast('The search could not be loaded. Try again.', 'bad');
      },
    );
  };
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const isCommand = event.ctrlKey || event.metaKey;
      if (event.key === 'k' && isCommand) {
        event.preventDefault();
        open();
      } else if (typed.current !== null && event.key.length === 1 && !isCommand) {
        event.preventDefault();
        typed.current += event.key;
      }
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, []);
  return { Palette: isOpen ? Palette : null, open, close: () => setOpen(false), takeTyped };
}
