import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Instant } from '#kernel/time.ts';
import type { FunctionEvent } from './events.ts';
import type { DeployedFunction } from './state.ts';

/** The part of a function that a deployment sets; the owner sets the rest. */
export type DeployedParts = Omit<DeployedFunction, 'id' | 'isEnabled' | 'deployedAt'>;

/** A rename of the integration is `Leave` at the old path and `Arrive` at the new one, decided together. */
export type FunctionCommand =
  | {
      readonly type: 'Deploy';
      readonly parts: DeployedParts;
      readonly at: Instant;
      readonly numericId?: number;
      readonly isIntegrationKnown: boolean;
    }
  | { readonly type: 'Enable'; readonly at: Instant }
  | { readonly type: 'Disable'; readonly at: Instant }
  | { readonly type: 'Leave'; readonly at: Instant }
  | { readonly type: 'Arrive'; readonly deployed: DeployedFunction; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const deployedFunction: Decider<DeployedFunction | null, FunctionCommand, FunctionEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Deploy':
        return deployed(command, state);
      case 'Arrive':
        if (state !== null) throw new GatewayError('conflict');
        return [{ type: 'FunctionDeployed', deployed: command.deployed }];
      case 'Enable':
        return known(state).isEnabled ? [] : [{ type: 'FunctionEnabled' }];
      case 'Disable':
        return known(state).isEnabled ? [{ type: 'FunctionDisabled' }] : [];
      case 'Leave':
        return state === null ? [] : [{ type: 'FunctionMoved' }];
      case 'Delete':
        return state === null ? [] : [{ type: 'FunctionDeleted' }];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'FunctionDeployed':
        return event.deployed;
      case 'FunctionEnabled':
        return state === null ? null : { ...state, isEnabled: true };
      case 'FunctionDisabled':
        return state === null ? null : { ...state, isEnabled: false };
      case 'FunctionMoved':
      case 'FunctionDeleted':
        return null;
    }
  },
};

/** The same content emits no event; other content keeps the number and whether it is enabled. */
function deployed(
  command: Extract<FunctionCommand, { type: 'Deploy' }>,
  state: DeployedFunction | null,
): FunctionEvent[] {
  const { parts, at } = command;
  if (!command.isIntegrationKnown) {
    throw new GatewayError('integration_not_found', {
      message: `The integration "${parts.integrationKey}" of the function "${parts.name}" does not exist.`,
    });
  }
  if (state !== null && state.contentHash === parts.contentHash) return [];
  const id = state?.id ?? command.numericId ?? 0;
  const isEnabled = state?.isEnabled ?? true;
  return [{ type: 'FunctionDeployed', deployed: { ...parts, id, isEnabled, deployedAt: at } }];
}

function known(state: DeployedFunction | null): DeployedFunction {
  if (state === null)
    throw new GatewayError('not_found', { message: 'The function does not exist.' });
  return state;
}
