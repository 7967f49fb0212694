import type { PublicMessage } from '../../control-plane/entity.ts';
import { joinKey } from '../../kernel/ids.ts';
import { stableJson } from '../../kernel/stable-json.ts';
import type { Connection } from '../connections/state.ts';
import type { Vault } from '../credentials/vault.ts';
import type { Environment } from '../environments/state.ts';
import {
  addressContext,
  deliveryContext,
  type DeliveryStep,
  type EndpointId,
  type WebhookKind,
} from './events.ts';
import type { Payload } from './sync-payload.ts';

type Addressed = Pick<Connection, 'integrationKey' | 'connectionId' | 'webhookUrlOverride'>;

/** Where webhooks of the connection go; empty when nothing is configured. */
export function endpointsOf(
  { webhookUrls }: Pick<Environment, 'webhookUrls'>,
  { webhookUrlOverride }: Pick<Connection, 'webhookUrlOverride'>,
): EndpointId[] {
  if (webhookUrlOverride !== null) return ['connection'];
  const { primary, secondary } = webhookUrls;
  return [
    ...(primary === null ? [] : ['primary' as const]),
    ...(secondary === null ? [] : ['secondary' as const]),
  ];
}

/** The URL of an endpoint as configured now; null when it is not any more. */
export function urlOf(
  endpoint: EndpointId,
  environment: Environment,
  connection: Addressed | null,
): string | null {
  if (endpoint === 'connection') return connection?.webhookUrlOverride ?? null;
  return environment.webhookUrls[endpoint];
}

const quiet = {
  attempt: 0,
  status: null,
  latency_ms: null,
  next_attempt_at: null,
  error_code: null,
  replay_of: null,
} as const;

/** One `created` message per payload and endpoint: what the dispatcher sends, at least once. */
export async function deliveriesOf(
  vault: Vault,
  of: {
    readonly environment: Environment;
    readonly connection: Addressed;
    /** There is no connection whose URL a delivery could look up: it carries it. */
    readonly isUnborn?: boolean;
    readonly kind: WebhookKind;
    readonly runId?: string;
  },
  payloads: readonly Payload[],
): Promise<PublicMessage[]> {
  const { environment, connection, kind, isUnborn = false } = of;
  const url = isUnborn ? connection.webhookUrlOverride : null;
  await vault.ready(environment.uid);
  return payloads.flatMap(({ messageId, payload }) => {
    const bytes = Buffer.from(stableJson(payload));
    const body = vault.sealBytes(
      environment.uid,
      bytes,
      deliveryContext(environment.uid, messageId),
    );
    const { uid } = environment;
    const address =
      url === null ? null : vault.sealBytes(uid, Buffer.from(url), addressContext(uid, messageId));
    return endpointsOf(environment, connection).map((endpoint) => {
      const about = { message_id: messageId, endpoint_id: endpoint, event_kind: kind };
      return deliveryMessage(
        { ...of, environmentUid: environment.uid },
        { ...quiet, ...about, action: 'created', body, address },
      );
    });
  });
}

/** A step of a delivery, on the partition of its connection: deliveries of one connection keep their order. */
export function deliveryMessage(
  of: {
    readonly environmentUid: string;
    readonly connection: Pick<Addressed, 'integrationKey' | 'connectionId'>;
    readonly runId?: string;
  },
  step: DeliveryStep,
): PublicMessage {
  const { environmentUid, connection, runId } = of;
  const { integrationKey, connectionId } = connection;
  return {
    topic: 'svc.webhooks-out.v1',
    key: joinKey(environmentUid, step.message_id),
    partitionBy: joinKey(environmentUid, integrationKey, connectionId),
    type: `svc.webhook.${step.action}`,
    environmentUid,
    integration: integrationKey,
    connectionId,
    ...(runId === undefined ? {} : { runId }),
    value: { ...step },
  };
}
