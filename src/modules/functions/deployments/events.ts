import type { Instant } from '#kernel/time.ts';
import type { DeploymentFailure, DeploymentOrder } from './state.ts';

export type DeploymentEvent =
  | { readonly type: 'DeploymentQueued'; readonly order: DeploymentOrder; readonly at: Instant }
  | { readonly type: 'DeploymentStarted'; readonly token: string; readonly at: Instant }
  /** Released by a node that stopped; another node continues it. */
  | { readonly type: 'DeploymentReleased'; readonly at: Instant }
  /** The function is deployed; the syncs of the connections follow. */
  | { readonly type: 'DeploymentApplied'; readonly version: string; readonly at: Instant }
  | { readonly type: 'DeploymentSucceeded'; readonly at: Instant }
  | { readonly type: 'DeploymentFailed'; readonly error: DeploymentFailure; readonly at: Instant }
  | { readonly type: 'DeploymentForgotten' };
