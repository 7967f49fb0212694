import type { DeployedFunction } from './state.ts';

export type FunctionEvent =
  | { readonly type: 'FunctionDeployed'; readonly deployed: DeployedFunction }
  | { readonly type: 'FunctionEnabled' }
  | { readonly type: 'FunctionDisabled' }
  /** It continues under another integration key. */
  | { readonly type: 'FunctionMoved' }
  | { readonly type: 'FunctionDeleted' };
