import type { ComponentChildren, JSX } from 'preact';
import { createPortal } from 'preact/compat';

/** Renders at the end of the document, above everything else. */
export const Portal = ({ children }: { readonly children: ComponentChildren }): JSX.Element =>
  createPortal(children, document.body) as JSX.Element;
