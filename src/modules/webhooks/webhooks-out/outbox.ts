import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { PublicMessage } from '#control-plane/entity.ts';
import { joinKey } from '#kernel/ids.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import type { Environment } from '#modules/access/environments/environment.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import {
  openUrl,
  urlOfConnection,
  urlOfEndpoint,
  urlOfEnvironment,
} from '#modules/access/vault/webhook-urls.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { webhookEndpointRef } from '../webhook-endpoints/entity.ts';
import { listEndpoints, wants, type Subject } from '../webhook-endpoints/queries.ts';
import {
  addressContext,
  deliveryContext,
  headersContext,
  type DeliveryStep,
  type EndpointId,
  type WebhookKind,
} from './events.ts';

type View = Pick<ControlPlane, 'view'>;

/** The connection of a webhook; without an id the webhook is attributed to none. */
export interface WebhookConnection extends Pick<
  Connection,
  'integrationKey' | 'webhookUrlOverride'
> {
  readonly connectionId: string | null;
}

/** A message before it is sealed and addressed. */
export interface Payload {
  readonly messageId: string;
  readonly payload: Json;
  /** Of a forwarded webhook: the forwarded headers of the provider. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The message that this one repeats. */
  readonly replayOf?: string;
}

/** The targets of webhooks of the kind about the connection; empty when none is configured. */
export function endpointsOf(
  control: View,
  { uid, webhookUrls }: Pick<Environment, 'uid' | 'webhookUrls'>,
  kind: WebhookKind,
  { webhookUrlOverride, integrationKey, connectionId }: WebhookConnection,
): EndpointId[] {
  if (webhookUrlOverride !== null) return ['connection'];
  const { primary, secondary } = webhookUrls;
  const subject: Subject = { kind, integrationKey, connectionId };
  return [
    ...(primary === null ? [] : ['primary']),
    ...(secondary === null ? [] : ['secondary']),
    ...listEndpoints(control, uid)
      .filter((endpoint) => wants(endpoint, subject))
      .map(({ id }) => id),
  ];
}

/** The address of an endpoint as configured now; null when the endpoint was removed. */
export async function urlOf(
  { control, vault }: { readonly control: View; readonly vault: Vault },
  endpointId: EndpointId,
  environment: Environment,
  connection: Pick<Connection, 'environmentUid' | 'uid' | 'webhookUrlOverride'> | null,
): Promise<string | null> {
  if (endpointId === 'connection') {
    if (connection === null) return null;
    return openUrl(vault, urlOfConnection(connection), connection.webhookUrlOverride);
  }
  if (endpointId === 'primary' || endpointId === 'secondary') {
    const owner = urlOfEnvironment(environment.uid, endpointId);
    return openUrl(vault, owner, environment.webhookUrls[endpointId]);
  }
  const endpoint = control.view.find(webhookEndpointRef(environment.uid, endpointId));
  if (endpoint?.isEnabled !== true) return null;
  return openUrl(vault, urlOfEndpoint(environment.uid, endpoint.id), endpoint.url);
}

const quiet = {
  attempt: 0,
  status: null,
  latency_ms: null,
  next_attempt_at: null,
  error_code: null,
} as const;

/** One `created` message per payload and endpoint: what the dispatcher sends, at least once. */
export async function deliveriesOf(
  deps: { readonly control: View; readonly vault: Vault },
  subject: {
    readonly environment: Environment;
    readonly connection: WebhookConnection;
    /** In plain text; stored in the delivery, because there is no connection to read the URL from. */
    readonly address?: string | null;
    readonly kind: WebhookKind;
    readonly runId?: string;
    /** Only these; absent: all that subscribe to it. */
    readonly endpoints?: readonly EndpointId[];
  },
  payloads: readonly Payload[],
): Promise<PublicMessage[]> {
  const { environment, connection, kind, address: url = null } = subject;
  const { uid } = environment;
  const endpoints = subject.endpoints ?? endpointsOf(deps.control, environment, kind, connection);
  if (endpoints.length === 0) return [];
  await deps.vault.ready(uid);
  const seal = (text: string, contextOf: (uid: string, messageId: string) => string, id: string) =>
    deps.vault.sealBytes(uid, Buffer.from(text), contextOf(uid, id));
  return payloads.flatMap(({ messageId, payload, headers, replayOf = null }) => {
    const sealed = {
      body: seal(stableJson(payload), deliveryContext, messageId),
      address: url === null ? null : seal(url, addressContext, messageId),
      headers:
        headers === undefined ? null : seal(JSON.stringify(headers), headersContext, messageId),
    };
    return endpoints.map((endpoint) => {
      const about = { message_id: messageId, endpoint_id: endpoint, event_kind: kind };
      return deliveryMessage(
        { ...subject, environmentUid: uid },
        { ...quiet, ...about, ...sealed, action: 'created', replay_of: replayOf },
      );
    });
  });
}

/** A step of a delivery, on the partition of its connection: deliveries of one connection keep their order. */
export function deliveryMessage(
  subject: {
    readonly environmentUid: string;
    readonly connection: Pick<WebhookConnection, 'integrationKey' | 'connectionId'>;
    readonly runId?: string;
  },
  step: DeliveryStep,
): PublicMessage {
  const { environmentUid, connection, runId } = subject;
  const { integrationKey, connectionId } = connection;
  return {
    topic: 'svc.webhooks-out.v1',
    key: joinKey(environmentUid, step.message_id),
    partitionBy: joinKey(environmentUid, integrationKey, connectionId ?? '-'),
    type: `svc.webhook.${step.action}`,
    environmentUid,
    // A test belongs to no connection.
    ...(integrationKey === '' ? {} : { integration: integrationKey }),
    ...(connectionId === null ? {} : { connectionId }),
    ...(runId === undefined ? {} : { runId }),
    value: { ...step },
  };
}
