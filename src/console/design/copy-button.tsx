import type { JSX } from 'preact';
import { IconButton } from './button.tsx';
import { toast } from './toast.tsx';

interface CopyButtonProps {
  readonly text: string;
  /** Of what is copied: `Copy the link`. */
  readonly label?: string;
}

export function CopyButton({ text, label = 'Copy' }: CopyButtonProps): JSX.Element {
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      toast('Copied');
    } catch {
      toast('The browser does not let this page copy: select the text and copy it.', 'bad');
    }
  };
  return <IconButton icon="copy" label={label} isSmall onPress={() => void copy()} />;
}
