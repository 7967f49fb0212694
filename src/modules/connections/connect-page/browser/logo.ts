import type { Integration } from './api.ts';
import { h } from './dom.ts';

/** Its name stands beside it, so it has none of its own. */
export const logoOf = ({ logo }: Integration): HTMLImageElement =>
  h('img', { class: 'logo', src: logo, alt: '', width: 40, height: 40 });
