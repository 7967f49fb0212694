import type { Integration } from './api.ts';
import { h } from './dom.ts';

/** Decorative: the name is beside it. */
export const logoOf = ({ logo }: Integration): HTMLImageElement =>
  h('img', { class: 'logo', src: logo, alt: '', width: 40, height: 40 });
