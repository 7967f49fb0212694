import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { consoleSession, type ConsoleSessionCommand, type CreateFacts } from './decider.ts';
import type { ConsoleSessionEvent } from './events.ts';
import { endOf } from './rules.ts';
import type { ConsoleSession } from './state.ts';

export interface ConsoleSessionEntity {
  readonly kind: 'console-session';
  readonly state: ConsoleSession;
  readonly command: ConsoleSessionCommand;
  readonly event: ConsoleSessionEvent;
  readonly facts: CreateFacts;
  readonly index: 'hash';
}

export const consoleSessionRef = (id: string): EntityRef<ConsoleSessionEntity> => ({
  kind: 'console-session',
  scope: 'account',
  path: [id],
});

/** Not published on a public topic: who signs in is in the audit. */
export const consoleSessionEntity: EntityDefinition<ConsoleSessionEntity> = {
  kind: 'console-session',
  indexes: { hash: ({ hash }) => hash },
  decider: consoleSession,
  facts: (command, _ref, siblings) => {
    if (command.type !== 'Create') return {};
    const { replaces } = command;
    return {
      replaced: replaces === undefined ? null : siblings.find(consoleSessionRef(replaces)),
    };
  },
  publish: () => [],
  dueAt: endOf,
};
