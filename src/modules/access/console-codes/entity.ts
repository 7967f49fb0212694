import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  consoleCode,
  type ConsoleCodeCommand,
  type ConsoleCodeEvent,
  type ConsoleCode,
} from './console-code.ts';

export interface ConsoleCodeEntity {
  readonly kind: 'console-code';
  readonly state: ConsoleCode;
  readonly command: ConsoleCodeCommand;
  readonly event: ConsoleCodeEvent;
  readonly index: 'hash' | 'person';
}

export const consoleCodeRef = (id: string): EntityRef<ConsoleCodeEntity> => ({
  kind: 'console-code',
  scope: 'account',
  path: [id],
});

/** Not published on a public topic: who signs in is in the audit. */
export const consoleCodeEntity: EntityDefinition<ConsoleCodeEntity> = {
  kind: 'console-code',
  indexes: { hash: ({ hash }) => hash, person: ({ personId }) => personId ?? null },
  decider: consoleCode,
  publish: () => [],
  dueAt: ({ expiresAt }) => expiresAt,
};
