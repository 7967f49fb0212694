import type { ConsoleCode } from './state.ts';

export type ConsoleCodeEvent =
  | { readonly type: 'CodeCreated'; readonly code: ConsoleCode }
  | { readonly type: 'CodeUsed' }
  | { readonly type: 'CodeExpired' };
