import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';
import type { KeyName } from '../console-codes/state.ts';
import type { ConsoleSessionEvent } from './events.ts';
import { endOf, withKeys } from './rules.ts';
import type { ConsoleSession } from './state.ts';

/** `at` is the owner's time. */
export type ConsoleSessionCommand =
  | {
      readonly type: 'Create';
      readonly id: string;
      readonly hash: string;
      readonly keys: readonly KeyName[];
      readonly at: Instant;
    }
  | { readonly type: 'AddKeys'; readonly keys: readonly KeyName[]; readonly at: Instant }
  | { readonly type: 'RemoveKey'; readonly keyId: string; readonly at: Instant }
  | { readonly type: 'ObserveUse'; readonly usedAt: Instant; readonly at: Instant }
  | { readonly type: 'End'; readonly at: Instant }
  | { readonly type: 'Tick'; readonly at: Instant };

export const consoleSession: Decider<
  ConsoleSession | null,
  ConsoleSessionCommand,
  ConsoleSessionEvent
> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') {
      if (state !== null) throw new GatewayError('conflict');
      const { id, hash, at } = command;
      const keys = bounded(withKeys([], command.keys));
      const session = { id, hash, keys, createdAt: at, usedAt: at };
      return [{ type: 'SessionCreated', session }];
    }
    // One that has ended concurrently is not recreated.
    if (state === null) {
      if (command.type === 'AddKeys') throw new GatewayError('unknown_console_session');
      return [];
    }
    switch (command.type) {
      case 'AddKeys': {
        const keys = bounded(withKeys(state.keys, command.keys));
        return [{ type: 'KeysChanged', keys, at: command.at }];
      }
      case 'RemoveKey': {
        const keys = state.keys.filter(({ id }) => id !== command.keyId);
        if (keys.length === state.keys.length) return [];
        if (keys.length === 0) return [{ type: 'SessionEnded' }];
        return [{ type: 'KeysChanged', keys, at: command.at }];
      }
      case 'ObserveUse':
        return command.usedAt <= state.usedAt
          ? []
          : [{ type: 'SessionUsed', usedAt: command.usedAt }];
      case 'End':
        return [{ type: 'SessionEnded' }];
      case 'Tick':
        return command.at < endOf(state) ? [] : [{ type: 'SessionEnded' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'SessionCreated') return event.session;
    if (state === null || event.type === 'SessionEnded') return null;
    if (event.type === 'SessionUsed') return { ...state, usedAt: event.usedAt };
    return { ...state, keys: event.keys, usedAt: Math.max(state.usedAt, event.at) };
  },
};

/** @throws GatewayError `resource_capped` */
function bounded(keys: readonly KeyName[]): readonly KeyName[] {
  const max = limits.consoleSessionKeysMax;
  if (keys.length <= max) return keys;
  const message = `A console session holds at most ${max} keys; take one out first.`;
  throw new GatewayError('resource_capped', { message });
}
