import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { Instant } from '#kernel/time.ts';

/** Scope = environment uid; path [environment uid, name]. */
export interface SavedQuery {
  readonly environmentUid: string;
  readonly name: string;
  /** Empty: none. */
  readonly description: string;
  readonly query: string;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

export interface SaveQuery {
  readonly type: 'Save';
  readonly environmentUid: string;
  readonly name: string;
  readonly description: string;
  readonly query: string;
  /** Number of other queries of the environment. */
  readonly othersInScope: number;
}

export type SavedQueryCommand = (SaveQuery | { readonly type: 'Delete' }) & {
  readonly at: Instant;
};

export type SavedQueryEvent =
  | { readonly type: 'QuerySaved'; readonly savedQuery: SavedQuery }
  | { readonly type: 'QueryDeleted' };

export const savedQuery: Decider<SavedQuery | null, SavedQueryCommand, SavedQueryEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Delete') {
      if (state === null)
        throw new GatewayError('not_found', { message: 'The saved query does not exist.' });
      return [{ type: 'QueryDeleted' }];
    }
    const { environmentUid, name, description, query, othersInScope, at } = command;
    if (othersInScope >= limits.savedQueriesMax) {
      const message = `An environment has at most ${limits.savedQueriesMax} saved queries.`;
      throw new GatewayError('resource_capped', { message });
    }
    if (state?.query === query && state.description === description) return [];
    const createdAt = state?.createdAt ?? at;
    const saved = { environmentUid, name, description, query, createdAt, updatedAt: at };
    return [{ type: 'QuerySaved', savedQuery: saved }];
  },

  evolve: (_state, event) => (event.type === 'QuerySaved' ? event.savedQuery : null),
};
