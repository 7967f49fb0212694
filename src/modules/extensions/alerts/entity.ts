import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import type { AlertKind } from '../alert-destinations/alert-destination.ts';
import { alert, type AlertCommand, type AlertEvent, type Alert } from './alert.ts';

export interface AlertEntity {
  readonly kind: 'alert';
  readonly state: Alert;
  readonly command: AlertCommand;
  readonly event: AlertEvent;
}

export const alertRef = (environmentUid: string, kind: AlertKind): EntityRef<AlertEntity> => ({
  kind: 'alert',
  scope: environmentUid,
  path: [environmentUid, kind],
});

/** Nothing is published: an alert is derived from what other topics have. */
export const alertEntity: EntityDefinition<AlertEntity> = {
  kind: 'alert',
  decider: alert,
  publish: () => [],
};
