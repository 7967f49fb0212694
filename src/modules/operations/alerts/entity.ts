import type { EntityDefinition, EntityRef } from '#control-plane/entity.ts';
import type { AlertKind } from '../alert-destinations/state.ts';
import { alert, type AlertCommand } from './decider.ts';
import type { AlertEvent } from './events.ts';
import type { Alert } from './state.ts';

export const alertRef = (environmentUid: string, kind: AlertKind): EntityRef => ({
  kind: 'alert',
  scope: environmentUid,
  path: [environmentUid, kind],
});

/** Nothing is published: an alert is derived from what other topics have. */
export const alertEntity: EntityDefinition<Alert, AlertCommand, AlertEvent> = {
  kind: 'alert',
  decider: alert,
  publish: () => [],
};
