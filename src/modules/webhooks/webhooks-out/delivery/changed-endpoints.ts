import type { EntityRef } from '#control-plane/entity.ts';
import type { EndpointRef } from '../delivery-store.ts';

/** The endpoints whose URL the entity holds. */
export function endpointsOf({ kind, path }: EntityRef): readonly EndpointRef[] {
  const [environment_id = '', second = '', third = ''] = path;
  const ofNone = { environment_id, integration: null, connection_id: null };
  switch (kind) {
    case 'environment':
      return ['primary', 'secondary'].map((endpoint_id) => ({ ...ofNone, endpoint_id }));
    case 'webhook-endpoint':
      return [{ ...ofNone, endpoint_id: second }];
    case 'connection':
      return [
        { environment_id, endpoint_id: 'connection', integration: second, connection_id: third },
      ];
    default:
      return [];
  }
}
