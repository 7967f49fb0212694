import type { ControlPlane } from '#control-plane/control-plane.ts';
import { webhookEndpointRef } from '../../webhook-endpoints/entity.ts';
import type { Deliveries } from '../deliveries.ts';
import { lineOf, type Delivery, type EndpointRef } from '../delivery-store.ts';

export interface OrderingDeps {
  readonly control: Pick<ControlPlane, 'view'>;
  readonly deliveries: Pick<Deliveries, 'tables'>;
}

/**
 * The order of the deliveries of a connection to an endpoint that is `ordered`: one starts when the view has the end of the one
 * before. Deliveries of a connection are on one partition, which one process holds.
 */
export class Ordering {
  readonly #deps: OrderingDeps;

  constructor(deps: OrderingDeps) {
    this.#deps = deps;
  }

  /** Whether deliveries of the connection to the endpoint are sent one after the other. */
  isOrdered({ environment_id: uid, endpoint_id: id, connection_id }: EndpointRef): boolean {
    if (connection_id === null) return false;
    return this.#deps.control.view.find(webhookEndpointRef(uid, id))?.isOrdered === true;
  }

  /** The first unfinished delivery of the connection to the ordered endpoint; null: there is none, or no order. */
  first(ref: EndpointRef, partition: number): Delivery | null {
    if (!this.isOrdered(ref)) return null;
    const { integration, connection_id: connectionId } = ref;
    const { tables } = this.#deps.deliveries;
    return tables.firstPending(partition, lineOf(ref), { integration, connectionId });
  }

  /** Whether an earlier delivery of its connection has to be finished first. */
  isBlocked({ partition, offset, ...delivery }: Delivery): boolean {
    const ref = {
      environment_id: delivery.environmentUid,
      endpoint_id: delivery.endpointId,
      integration: delivery.integration,
      connection_id: delivery.connectionId,
    };
    const first = this.first(ref, partition);
    return first !== null && first.offset < offset;
  }
}
