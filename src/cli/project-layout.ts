import type { FunctionKind } from '../modules/functions/functions/state.ts';

/** The folder of an integration that holds the functions of a kind. */
export const kindFolder: Readonly<Record<FunctionKind, string>> = {
  sync: 'syncs',
  action: 'actions',
  'on-event': 'on-events',
};
