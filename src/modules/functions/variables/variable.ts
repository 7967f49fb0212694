import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** Scope = environment uid; path [environment uid, name]. The value is sealed under the environment's key. */
export interface Variable {
  readonly environmentUid: string;
  readonly name: string;
  readonly value: Sealed<string>;
  readonly updatedAt: Instant;
}

export type VariableEvent =
  | { readonly type: 'VariableSet'; readonly variable: Variable }
  | { readonly type: 'VariableDeleted' };

/** Facts that the owner adds: `at`, and the number of other variables of the environment. */
export type VariableCommand =
  | {
      readonly type: 'Set';
      readonly environmentUid: string;
      readonly name: string;
      readonly value: Sealed<string>;
      readonly at: Instant;
      readonly othersInScope: number;
    }
  | { readonly type: 'Delete'; readonly at: Instant };

export const variable: Decider<Variable | null, VariableCommand, VariableEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Delete') {
      if (state === null)
        throw new GatewayError('not_found', { message: 'The variable does not exist.' });
      return [{ type: 'VariableDeleted' }];
    }
    if (command.othersInScope >= limits.environmentVariablesMax) {
      throw new GatewayError('resource_capped', {
        message: `An environment has at most ${limits.environmentVariablesMax} variables.`,
      });
    }
    const { environmentUid, name, value, at } = command;
    return [{ type: 'VariableSet', variable: { environmentUid, name, value, updatedAt: at } }];
  },

  evolve: (_state, event) => (event.type === 'VariableSet' ? event.variable : null),
};
