import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import { publishConfig } from '#control-plane/public-message.ts';
import {
  alertDestination,
  type AlertDestinationCommand,
  type AlertDestinationEvent,
  type AlertDestination,
} from './alert-destination.ts';

export interface AlertDestinationEntity {
  readonly kind: 'alert-destination';
  readonly state: AlertDestination;
  readonly command: AlertDestinationCommand;
  readonly event: AlertDestinationEvent;
  readonly topic: 'svc.config.v1';
  readonly facts: { readonly siblings: number };
}

const kind = 'alert-destination';

export const alertDestinationRef = (
  environmentUid: string,
  id: string,
): EntityRef<AlertDestinationEntity> => ({
  kind,
  scope: environmentUid,
  path: [environmentUid, id],
});

const actions = {
  AlertDestinationCreated: 'created',
  AlertDestinationChanged: 'updated',
  AlertDestinationDeleted: 'deleted',
} as const;

export const alertDestinationEntity: EntityDefinition<AlertDestinationEntity> = {
  kind,
  decider: alertDestination,

  facts(command, ref, siblings) {
    if (command.type !== 'Create') return {};
    return { siblings: siblings.list(ref, ref.path.slice(0, 1)).length };
  },

  publishes: { 'svc.config.v1': true },
  publish: publishConfig('alert_destination', actions, (subject) => ({
    id: [subject.environmentUid, subject.id],
    environmentUid: subject.environmentUid,
    document: {
      id: subject.id,
      display_name: subject.displayName,
      type: subject.type,
      alerts: subject.kinds,
      enabled: subject.isEnabled,
    },
  })),
};
