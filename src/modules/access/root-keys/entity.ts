import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { rewrap, type RewrapCommand } from './decider.ts';
import type { RewrapEvent } from './events.ts';
import type { Rewrap } from './state.ts';

export const rewrapRef: EntityRef = { kind: 'rewrap', scope: 'account', path: ['rewrap'] };

/** Not published on a public topic: root keys concern operators only. */
export const rewrapEntity: EntityDefinition<Rewrap, RewrapCommand, RewrapEvent> = {
  kind: 'rewrap',
  decider: rewrap,
  publish: () => [],
};
