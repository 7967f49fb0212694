import { randomUUID } from 'node:crypto';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import type { IdempotentCall } from '#http/define-route.ts';
import { parseRawJson } from '#kernel/exact-json.ts';
import { joinKey, uuidV5 } from '#kernel/ids.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import type { Micros } from '#kernel/time.ts';
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
import { matchesFilter } from '../webhook-endpoints/filter.ts';
import { listEndpoints, wants, type Subject } from '../webhook-endpoints/queries.ts';
import type { WebhookEndpoint } from '../webhook-endpoints/webhook-endpoint.ts';
import type { Deliveries } from './deliveries.ts';
import type { Delivery, DeliveryFilter, DeliveryPlace } from './delivery-store.ts';
import {
  addressContext,
  deliveryContext,
  headersContext,
  type DeliveryStep,
  type EndpointId,
  type WebhookKind,
  type WebhookOut,
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
  vault: Vault,
  endpointId: EndpointId,
  {
    environment,
    connection,
    endpoint,
  }: {
    readonly environment: Environment;
    readonly connection: Pick<Connection, 'environmentUid' | 'uid' | 'webhookUrlOverride'> | null;
    /** Of this id; null for the addresses of the environment and of connections. */
    readonly endpoint: WebhookEndpoint | null;
  },
): Promise<string | null> {
  if (endpointId === 'connection') {
    if (connection === null) return null;
    return openUrl(vault, urlOfConnection(connection), connection.webhookUrlOverride);
  }
  if (endpointId === 'primary' || endpointId === 'secondary') {
    const owner = urlOfEnvironment(environment.uid, endpointId);
    return openUrl(vault, owner, environment.webhookUrls[endpointId]);
  }
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

/**
 * One message per payload and endpoint: `created`, which the dispatcher sends at least once, or `filtered`, which the filter of the
 * endpoint keeps back.
 */
export async function deliveriesOf(
  deps: { readonly control: View; readonly vault: Vault },
  subject: {
    readonly environment: Environment;
    readonly connection: WebhookConnection;
    /** In plain text; stored in the delivery, because there is no connection to read the URL from. */
    readonly address?: string | null;
    readonly kind: WebhookKind;
    readonly runId?: string;
    /** Only these, whatever their filters say; absent: all that subscribe to it. */
    readonly endpoints?: readonly EndpointId[];
  },
  payloads: readonly Payload[],
): Promise<PublicMessage[]> {
  const { environment, connection, kind, address: url = null } = subject;
  const { uid } = environment;
  const endpoints = subject.endpoints ?? endpointsOf(deps.control, environment, kind, connection);
  if (endpoints.length === 0) return [];
  const isKeptBack = filtersOf(deps, uid, subject.endpoints === undefined ? endpoints : []);
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
      const action = isKeptBack(endpoint, payload) ? 'filtered' : 'created';
      const about = { message_id: messageId, endpoint_id: endpoint, event_kind: kind };
      return deliveryMessage(
        { ...subject, environmentUid: uid },
        { ...quiet, ...about, ...sealed, action, replay_of: replayOf },
      );
    });
  });
}

/** Whether the filter that an endpoint has now keeps a body back. */
function filtersOf(
  { control: { view } }: { readonly control: View },
  environmentUid: string,
  endpoints: readonly EndpointId[],
): (endpoint: EndpointId, payload: Json) => boolean {
  const filters = new Map(
    endpoints.map((id) => [id, view.find(webhookEndpointRef(environmentUid, id))?.filter ?? null]),
  );
  return (id, payload) => {
    const filter = filters.get(id) ?? null;
    return filter !== null && !matchesFilter(filter, payload);
  };
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

interface Deps {
  readonly deliveries: Deliveries;
  readonly publisher: Publisher;
  readonly vault: Vault;
}

export interface Ordering {
  readonly actor: string;
  readonly idempotency?: IdempotentCall;
}

/** The result of a replay or of its dry run. */
export interface ReplayResult {
  readonly matched: number;
  /** Ids of the new messages; of a dry run those that would be repeated. At most 100. */
  readonly messageIds: readonly string[];
  readonly replayed: number;
  /** Ids of messages whose body the log has deleted. */
  readonly gone: number;
  /** More messages match: repeat from the time of the last. */
  readonly hasMore: boolean;
  readonly lastCreatedAt: Micros | null;
}

const pageMax = 200;
const shownMax = 100;

/**
 * The original body; null after the log has deleted it.
 * @throws GatewayError `not_found` (the key was destroyed)
 */
export async function bodyOf(
  { deliveries, vault }: { readonly deliveries: Deliveries; readonly vault: Vault },
  delivery: Delivery,
): Promise<Json> {
  const created = await deliveries.valueAt(delivery);
  if (created?.body == null) return null;
  const { environment_id: uid, message_id: id } = created;
  await vault.ready(uid);
  const bytes = vault.openBytes(uid, created.body, deliveryContext(uid, id));
  return parseRawJson(Buffer.from(bytes).toString()) as Json;
}

/**
 * Replays matching messages, oldest first: each is a new message that names the original, with the same body, and with
 * the same `webhook-id` on the wire.
 */
export async function replayMatching(
  deps: Deps,
  environmentUid: string,
  filter: DeliveryFilter,
  options: Ordering & { readonly isDryRun: boolean; readonly limit: number },
): Promise<ReplayResult> {
  const { tables } = deps.deliveries;
  await deps.deliveries.caughtUp();
  const messageIds: string[] = [];
  const counts = { matched: 0, replayed: 0, gone: 0 };
  let after: DeliveryPlace | undefined;
  for (;;) {
    const limit = Math.min(pageMax, options.limit - counts.matched);
    const page = limit === 0 ? [] : tables.oldest(environmentUid, filter, { after, limit });
    const last = page.at(-1);
    if (last === undefined) break;
    after = last;
    counts.matched += page.length;
    const made = options.isDryRun ? null : await repeat(deps, page, options);
    counts.replayed += made?.ids.length ?? 0;
    counts.gone += made?.gone ?? 0;
    const ids = made?.ids ?? page.map(({ messageId }) => messageId);
    messageIds.push(...ids.slice(0, shownMax - messageIds.length));
  }
  const rest = tables.oldest(environmentUid, filter, { after, limit: 1 });
  const lastCreatedAt = after?.createdAt ?? null;
  return { ...counts, messageIds, hasMore: rest.length > 0, lastCreatedAt };
}

/** Replays these messages. */
export async function repeat(
  { deliveries, publisher, vault }: Deps,
  candidates: readonly Delivery[],
  { actor, idempotency }: Ordering,
): Promise<{ readonly ids: string[]; readonly gone: number }> {
  const messages: PublicMessage[] = [];
  const ids: string[] = [];
  let gone = 0;
  // The same key yields the same message ids, which are then detected as duplicates.
  const key = idempotency?.idempotencyKey ?? randomUUID();
  for (const delivery of candidates) {
    const created = await deliveries.valueAt(delivery);
    if (created?.body == null) {
      gone += 1;
      continue;
    }
    const { messageId, endpointId, environmentUid } = delivery;
    const id = uuidV5(environmentUid, `replay/${key}/${messageId}/${endpointId}`);
    await vault.ready(environmentUid);
    messages.push(...repeatedMessages(vault, created, id));
    ids.push(id);
  }
  if (messages.length > 0) await publisher.publish(messages, actor);
  return { ids, gone };
}

function repeatedMessages(vault: Vault, created: WebhookOut, id: string): PublicMessage[] {
  const { environment_id: uid, message_id, endpoint_id, event_kind, run_id } = created;
  const again = (sealed: Uint8Array | null, contextOf: (uid: string, id: string) => string) =>
    sealed === null
      ? null
      : vault.sealBytes(
          uid,
          vault.openBytes(uid, sealed, contextOf(uid, message_id)),
          contextOf(uid, id),
        );
  const subject = {
    environmentUid: uid,
    connection: { integrationKey: created.integration ?? '', connectionId: created.connection_id },
    ...(run_id === null ? {} : { runId: run_id }),
  };
  const quiet = { attempt: 0, status: null, latency_ms: null, next_attempt_at: null };
  const step: Omit<DeliveryStep, 'message_id' | 'action' | 'replay_of'> = {
    ...quiet,
    endpoint_id,
    event_kind,
    error_code: null,
    body: null,
    address: null,
    headers: null,
  };
  return [
    deliveryMessage(subject, { ...step, message_id, action: 'replayed', replay_of: null }),
    deliveryMessage(subject, {
      ...step,
      message_id: id,
      action: 'created',
      body: again(created.body, deliveryContext),
      address: again(created.address, addressContext),
      headers: again(created.headers, headersContext),
      replay_of: created.replay_of ?? message_id,
    }),
  ];
}
