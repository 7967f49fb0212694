import type { Instant } from '#kernel/time.ts';
import type { IdempotentRequest, KeptAnswer } from './state.ts';

export type IdempotentRequestEvent =
  | { readonly type: 'RequestBegun'; readonly request: IdempotentRequest }
  | { readonly type: 'LeaseExtended'; readonly leaseUntil: Instant }
  | { readonly type: 'RequestAnswered'; readonly answer: KeptAnswer }
  | { readonly type: 'RequestForgotten' };
