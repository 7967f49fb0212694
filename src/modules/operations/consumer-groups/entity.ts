import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import {
  consumerGroup,
  type ConsumerGroupCommand,
  type ConsumerGroupEvent,
  type ConsumerGroup,
} from './consumer-group.ts';

export interface ConsumerGroupEntity {
  readonly kind: 'consumer-group';
  readonly state: ConsumerGroup;
  readonly command: ConsumerGroupCommand;
  readonly event: ConsumerGroupEvent;
}

export const consumerGroupRef = (name: string): EntityRef<ConsumerGroupEntity> => ({
  kind: 'consumer-group',
  scope: 'account',
  path: [name],
});

/** Not published on a public topic: positions concern operators only. */
export const consumerGroupEntity: EntityDefinition<ConsumerGroupEntity> = {
  kind: 'consumer-group',
  decider: consumerGroup,
  publish: () => [],
};
