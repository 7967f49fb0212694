import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { rewrap, type RewrapCommand, type RewrapEvent, type Rewrap } from './rewrap-order.ts';

export interface RewrapEntity {
  readonly kind: 'rewrap';
  readonly state: Rewrap;
  readonly command: RewrapCommand;
  readonly event: RewrapEvent;
}

export const rewrapRef: EntityRef<RewrapEntity> = {
  kind: 'rewrap',
  scope: 'account',
  path: ['rewrap'],
};

/** Not published on a public topic: root keys concern operators only. */
export const rewrapEntity: EntityDefinition<RewrapEntity> = {
  kind: 'rewrap',
  decider: rewrap,
  publish: () => [],
};
