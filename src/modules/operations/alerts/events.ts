import type { Alert, Notice } from './state.ts';

export type AlertEvent =
  | {
      readonly type: 'AlertObserved';
      readonly observed: Pick<
        Alert,
        'environmentUid' | 'kind' | 'count' | 'subjects' | 'since' | 'noticedCount'
      >;
    }
  | { readonly type: 'NoticeIssued'; readonly notice: Notice }
  | { readonly type: 'NoticeTried'; readonly tries: number; readonly pending: readonly string[] }
  | { readonly type: 'NoticeClosed' }
  | { readonly type: 'AlertDeleted' };
