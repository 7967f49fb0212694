import type { Authorization } from './state.ts';

export type AuthorizationEvent =
  | { readonly type: 'AuthorizationBegun'; readonly authorization: Authorization }
  | { readonly type: 'AuthorizationTaken' }
  | { readonly type: 'AuthorizationAbandoned' };
