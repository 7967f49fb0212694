import type { Variable } from './state.ts';

export type VariableEvent =
  | { readonly type: 'VariableSet'; readonly variable: Variable }
  | { readonly type: 'VariableDeleted' };
