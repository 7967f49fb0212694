import type { PublicMessage } from '#control-plane/entity.ts';
import type { Publisher } from '#control-plane/publisher.ts';
import type { GatewayError } from '#kernel/errors.ts';
import { joinKey } from '#kernel/ids.ts';
import type { Instant } from '#kernel/time.ts';
import type { Vault } from '#modules/access/vault/vault.ts';
import type { WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import type { IncomingStep, KeptRequest, WebhookIn } from './events.ts';
import type { IncomingRequest, ReceivedWebhook } from './facts.ts';
import type { IncomingWebhook, IncomingWebhooks } from './incoming-store.ts';
import type { Receiver } from './receiver.ts';

/** Sealing context of the body. */
const bodyContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in/${deliveryId}`;

/** Sealing context of the rest of the request. */
const requestContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in-request/${deliveryId}`;

interface Deps {
  readonly vault: Vault;
}

/** Headers that are shown in plain text, because they contain no secrets. */
const shownHeaders = new Set(['content-type', 'user-agent']);

const quiet = {
  reason: null,
  status: null,
  provider_delivery_id: null,
  matched_connections: [],
  subscription: null,
  run_ids: [],
  headers: {},
  body: null,
  request: null,
  refused_count: null,
} satisfies Partial<IncomingStep>;

/** Durable when it resolves. @throws GatewayError `log_unavailable`, `log_full` */
export async function publish(
  { publisher }: { readonly publisher: Publisher },
  ...messages: readonly PublicMessage[]
): Promise<void> {
  await publisher.publish(messages, 'system');
}

/**
 * The step that stores the sealed request.
 * @param options `keepsBody` false: only the arrival, so that it cannot be processed again
 */
export async function receivedMessage(
  deps: Deps,
  receiver: Receiver,
  { id, receivedAt, request }: ReceivedWebhook,
  { keepsBody = true }: { readonly keepsBody?: boolean } = {},
): Promise<PublicMessage> {
  const { vault } = deps;
  const { uid } = receiver.environment;
  await vault.ready(uid);
  const { headers, search, bytes } = request;
  const kept: KeptRequest = { headers, search };
  return message(receiver, {
    ...quiet,
    delivery_id: id,
    disposition: 'received',
    headers: shown(headers, receiver.rules),
    body: keepsBody ? vault.sealBytes(uid, bytes, bodyContext(uid, id)) : null,
    request: keepsBody
      ? vault.sealBytes(uid, Buffer.from(JSON.stringify(kept)), requestContext(uid, id))
      : null,
    body_hash: bodyHash(deps, request),
    received_at: receivedAt * 1000,
  });
}

/** The outcome of a stored request. */
export function outcomeMessage(
  deps: Deps,
  receiver: Receiver,
  { id, receivedAt, request }: ReceivedWebhook,
  outcome: Partial<IncomingStep> & Pick<IncomingStep, 'disposition'>,
): PublicMessage {
  const about = { delivery_id: id, body_hash: bodyHash(deps, request) };
  return message(receiver, { ...quiet, ...about, received_at: receivedAt * 1000, ...outcome });
}

export const rejectedMessage = (
  deps: Deps,
  receiver: Receiver,
  stored: ReceivedWebhook,
  { code: reason, status }: GatewayError,
): PublicMessage =>
  outcomeMessage(deps, receiver, stored, { disposition: 'rejected', reason, status });

/** The number of requests of an hour that were not stored so far. */
export const refusedMessage = (
  receiver: Receiver,
  {
    id,
    at,
    count,
    reason,
    status,
  }: {
    readonly id: string;
    readonly at: Instant;
    readonly count: number;
    readonly reason: string;
    readonly status: number;
  },
): PublicMessage =>
  message(receiver, {
    ...quiet,
    delivery_id: id,
    disposition: 'refused',
    reason,
    status,
    body_hash: '',
    received_at: at * 1000,
    refused_count: count,
  });

function message({ environment, integration }: Receiver, step: IncomingStep): PublicMessage {
  return {
    topic: 'svc.webhooks-in.v1',
    key: joinKey(environment.uid, integration.uniqueKey, '-'),
    type: `svc.webhook-in.${step.disposition}`,
    environmentUid: environment.uid,
    integration: integration.uniqueKey,
    value: { ...step },
  };
}

/** Keyed hash of the exact bytes. */
export const bodyHash = ({ vault }: Deps, { bytes }: IncomingRequest): string =>
  vault.fingerprint('webhook-body', bytes.toString('latin1'));

function shown(headers: IncomingRequest['headers'], rules: WebhookRules): Record<string, string> {
  const named = [...(rules.type ?? []), ...(rules.delivery_id ?? [])].map(({ header }) => header);
  const names = new Set([...shownHeaders, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => names.has(name)));
}

/**
 * The webhook from the log; null when its request is not stored.
 * @throws GatewayError `not_found`: the key was destroyed
 */
export async function storedWebhook(
  { vault, incoming }: { readonly vault: Vault; readonly incoming: IncomingWebhooks },
  webhook: IncomingWebhook,
): Promise<ReceivedWebhook | null> {
  const received = await incoming.valueAt(webhook);
  return received === null ? null : openReceived(vault, received);
}

/**
 * The request in a message of the log; null when it has none.
 * @throws GatewayError `not_found`: the key was destroyed
 */
export async function openReceived(
  vault: Vault,
  { environment_id: uid, delivery_id: id, received_at, body, request }: WebhookIn,
): Promise<ReceivedWebhook | null> {
  if (body === null || request === null) return null;
  await vault.ready(uid);
  const bytes = vault.openBytes(uid, body, bodyContext(uid, id));
  const kept = vault.openBytes(uid, request, requestContext(uid, id));
  const { headers, search } = JSON.parse(kept.toString()) as KeptRequest;
  return { id, receivedAt: received_at / 1000, request: { headers, search, bytes } };
}
