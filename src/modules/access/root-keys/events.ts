import type { Instant } from '#kernel/time.ts';
import type { Rewrap } from './state.ts';

export type RewrapEvent =
  | { readonly type: 'RewrapOrdered'; readonly rewrap: Rewrap }
  | { readonly type: 'RewrapEnded'; readonly at: Instant };
