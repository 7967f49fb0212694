import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { IconButton } from './button.tsx';
import { Icon } from './icon.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: 'good' | 'bad';
}

const shownMs = 6_000;
let lastId = 0;
let shown: readonly Toast[] = [];
let notify: (toasts: readonly Toast[]) => void = () => undefined;

const change = (toasts: readonly Toast[]): void => {
  shown = toasts;
  notify(shown);
};
const remove = (id: number): void => change(shown.filter((toast) => toast.id !== id));

/** Shows a short message for six seconds; a failure stays until it is closed. */
export function toast(text: string, tone: Toast['tone'] = 'good'): void {
  lastId += 1;
  const id = lastId;
  change([...shown, { id, text, tone }]);
  if (tone === 'good') setTimeout(() => remove(id), shownMs);
}

/** Where toasts appear; there is one on the page. */
export function Toasts(): JSX.Element {
  const [toasts, setToasts] = useState(shown);
  useEffect(() => {
    notify = setToasts;
    return () => {
      notify = () => undefined;
    };
  }, []);
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map(({ id, text, tone }) => (
        <div key={id} class={`toast ${tone}`}>
          <Icon name={tone === 'good' ? 'check' : 'alert'} />
          <span class="grow">{text}</span>
          <IconButton icon="close" label="Close the message" isSmall onPress={() => remove(id)} />
        </div>
      ))}
    </div>
  );
}
