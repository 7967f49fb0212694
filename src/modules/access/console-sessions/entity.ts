import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  consoleSession,
  type ConsoleSessionCommand,
  type CreateFacts,
  type ConsoleSessionEvent,
  type ConsoleSession,
  endOf,
} from './console-session.ts';

export interface ConsoleSessionEntity {
  readonly kind: 'console-session';
  readonly state: ConsoleSession;
  readonly command: ConsoleSessionCommand;
  readonly event: ConsoleSessionEvent;
  readonly facts: CreateFacts;
  readonly index: 'hash' | 'person';
}

export const consoleSessionRef = (id: string): EntityRef<ConsoleSessionEntity> => ({
  kind: 'console-session',
  scope: 'account',
  path: [id],
});

/** Not published on a public topic: who signs in is in the audit. */
export const consoleSessionEntity: EntityDefinition<ConsoleSessionEntity> = {
  kind: 'console-session',
  indexes: { hash: ({ hash }) => hash, person: ({ personId }) => personId ?? null },
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
