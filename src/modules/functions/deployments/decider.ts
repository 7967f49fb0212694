import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { DeploymentEvent } from './events.ts';
import type { Deployment, DeploymentFailure, DeploymentOrder } from './state.ts';

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

const ended = (state: Deployment, at: Instant): Deployment => ({
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
