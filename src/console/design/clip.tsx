import type { JSX } from 'preact';

interface ClipProps {
  readonly text: string;
  /** The whole, where the text is a part of it. */
  readonly title?: string;
  readonly isMono?: boolean;
}

/** A text on one line: where it is too long it ends with an ellipsis, and its title is the whole. */
export const Clip = ({ text, title = text, isMono = false }: ClipProps): JSX.Element => (
  <span class={isMono ? 'clip mono' : 'clip'} title={title}>
    {text}
  </span>
);
