import type { Instant } from '#kernel/time.ts';
import type { ApiKey } from './state.ts';

export type ApiKeyEvent =
  | { readonly type: 'KeyCreated'; readonly key: ApiKey }
  | { readonly type: 'KeyUsed'; readonly usedAt: Instant }
  | { readonly type: 'KeyDeleted' };
