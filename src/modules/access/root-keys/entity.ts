import type { EntityDefinition, EntityRef } from '../../../control-plane/entity.ts';
import { rewrap, type RewrapCommand } from './decider.ts';
import type { RewrapEvent } from './events.ts';
import type { Rewrap } from './state.ts';

export const rewrapRef: EntityRef = { kind: 'rewrap', scope: 'account', path: ['rewrap'] };

/** Not told on a public topic: root keys are the operators' own. */
export const rewrapEntity: EntityDefinition<Rewrap, RewrapCommand, RewrapEvent> = {
  kind: 'rewrap',
  decider: rewrap,
  publish: () => [],
};
