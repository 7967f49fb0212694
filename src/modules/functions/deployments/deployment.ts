import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { FunctionKind } from '../functions/function.ts';

/** The request of the client. */
export interface DeploymentOrder {
  readonly id: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly functionName: string;
  readonly functionType: FunctionKind;
  /** TypeScript of the function; empty once the deployment has ended. */
  readonly code: string;
  /** What the code of a template imports, as `SourceOrder` has it; absent: nothing, or the deployment has ended. */
  readonly imports?: Readonly<Record<string, string>>;
  /** Replaces the version in the code; null: the version in the code. */
  readonly version: string | null;
  /** Whether models and their records may be deleted. */
  readonly allowsDestructive: boolean;
  readonly actor: string;
}

/** Scope = environment uid; path [environment uid, id]. */
export interface Deployment extends DeploymentOrder {
  readonly status: 'waiting' | 'running' | 'success' | 'failed';
  /** Of the node that executes it; null before. */
  readonly token: string | null;
  readonly createdAt: Instant;
  readonly startedAt: Instant | null;
  readonly updatedAt: Instant;
  readonly endedAt: Instant | null;
  /** Label of the version that is deployed; null before. */
  readonly deployedVersion: string | null;
  readonly error: DeploymentFailure | null;
}

export interface DeploymentFailure {
  readonly code: string;
  readonly message: string;
  /** Absent: that of the code. */
  readonly fix?: string;
}

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

export type DeploymentCommand = { readonly at: Instant } & (
  | { readonly type: 'Queue'; readonly order: DeploymentOrder }
  | { readonly type: 'Start'; readonly token: string }
  | { readonly type: 'Release'; readonly token: string }
  /** Decided together with the function. */
  | { readonly type: 'Apply'; readonly token: string; readonly version: string }
  | { readonly type: 'Succeed'; readonly token: string }
  | { readonly type: 'Fail'; readonly token: string; readonly error: DeploymentFailure }
  | { readonly type: 'Tick' }
);

export const deployment: Decider<Deployment | null, DeploymentCommand, DeploymentEvent> = {
  initial: null,

  decide(command, state) {
    const { at } = command;
    if (command.type === 'Queue') {
      return state === null ? [{ type: 'DeploymentQueued', order: command.order, at }] : [];
    }
    if (command.type === 'Tick') return state === null ? [] : tick(state, at);
    if (command.type === 'Start') {
      const isFree = state?.status === 'waiting';
      return isFree ? [{ type: 'DeploymentStarted', token: command.token, at }] : [];
    }
    const isHeld = state?.status === 'running' && state.token === command.token;
    switch (command.type) {
      case 'Release':
        return isHeld ? [{ type: 'DeploymentReleased', at }] : [];
      case 'Apply':
        // This also refuses the function.
        if (!isHeld) throw new GatewayError('stale_attempt');
        return [{ type: 'DeploymentApplied', version: command.version, at }];
      case 'Succeed':
        return isHeld ? [{ type: 'DeploymentSucceeded', at }] : [];
      case 'Fail':
        return isHeld ? [{ type: 'DeploymentFailed', error: command.error, at }] : [];
    }
  },

  evolve(state, event) {
    if (event.type === 'DeploymentQueued') return queued(event.order, event.at);
    if (event.type === 'DeploymentForgotten' || state === null) return null;
    const { at } = event;
    switch (event.type) {
      case 'DeploymentStarted': {
        const { token } = event;
        return { ...state, status: 'running', token, startedAt: at, updatedAt: at };
      }
      case 'DeploymentReleased':
        return { ...state, status: 'waiting', token: null, startedAt: null, updatedAt: at };
      case 'DeploymentApplied':
        return { ...state, deployedVersion: event.version, updatedAt: at };
      case 'DeploymentSucceeded':
        return { ...ended(state, at), status: 'success' };
      case 'DeploymentFailed':
        return { ...ended(state, at), status: 'failed', error: event.error };
    }
  },
};

/** The time of the next timeout. */
export function deploymentDueAt({ status, createdAt, startedAt, endedAt }: Deployment): Instant {
  if (endedAt !== null) return endedAt + limits.deploymentKeptMs;
  return (status === 'running' && startedAt !== null ? startedAt : createdAt) + limits.deploymentMs;
}

function queued(order: DeploymentOrder, at: Instant): Deployment {
  return {
    ...order,
    status: 'waiting',
    token: null,
    createdAt: at,
    startedAt: null,
    updatedAt: at,
    endedAt: null,
    deployedVersion: null,
    error: null,
  };
}

const ended = ({ imports: _, ...state }: Deployment, at: Instant): Deployment => ({
  ...state,
  code: '',
  updatedAt: at,
  endedAt: at,
});

function tick(state: Deployment, at: Instant): DeploymentEvent[] {
  if (at < deploymentDueAt(state)) return [];
  if (state.endedAt !== null) return [{ type: 'DeploymentForgotten' }];
  // The remaining steps are idempotent, and the next deployment of the environment does them.
  if (state.deployedVersion !== null) return [{ type: 'DeploymentSucceeded', at }];
  const error =
    state.status === 'running'
      ? { code: 'timeout', message: 'The deployment did not finish in time; nothing was deployed.' }
      : {
          code: 'execution_environment_unavailable',
          message: 'No node started the deployment in time.',
        };
  return [{ type: 'DeploymentFailed', error, at }];
}
