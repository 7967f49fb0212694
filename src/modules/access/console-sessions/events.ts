import type { Instant } from '#kernel/time.ts';
import type { KeyName } from '../console-codes/state.ts';
import type { ConsoleSession } from './state.ts';

export type ConsoleSessionEvent =
  | { readonly type: 'SessionCreated'; readonly session: ConsoleSession }
  | { readonly type: 'KeysChanged'; readonly keys: readonly KeyName[]; readonly at: Instant }
  | { readonly type: 'SessionUsed'; readonly usedAt: Instant }
  | { readonly type: 'SessionEnded' };
