import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { consoleSession, type ConsoleSessionCommand, type CreateFacts } from './decider.ts';
import type { ConsoleSessionEvent } from './events.ts';
import { endOf } from './rules.ts';
import type { ConsoleSession } from './state.ts';

export const consoleSessionRef = (id: string): EntityRef => ({
  kind: 'console-session',
  scope: 'account',
  path: [id],
});

/** Not published on a public topic: who signs in is in the audit. */
export const consoleSessionEntity: EntityDefinition<
  ConsoleSession,
  ConsoleSessionCommand,
  ConsoleSessionEvent
> = {
  kind: 'console-session',
  indexes: { hash: ({ hash }) => hash },
  decider: consoleSession,
  facts: ({ type, replaces }, _ref, siblings): Partial<CreateFacts> => {
    if (type !== 'Create') return {};
    const id = typeof replaces === 'string' ? replaces : null;
    return {
      replaced: id === null ? null : siblings.find<ConsoleSession>('console-session', [id]),
    };
  },
  publish: () => [],
  dueAt: endOf,
};
