import type { ConnectSession } from './state.ts';

export type ConnectSessionEvent =
  | { readonly type: 'SessionCreated'; readonly session: ConnectSession }
  | { readonly type: 'SessionEnded' };
