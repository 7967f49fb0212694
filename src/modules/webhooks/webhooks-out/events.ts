import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { Micros } from '../../../kernel/time.ts';

/** What a webhook of each kind reports; the table of docs/reference/webhooks-out.md#payloads. */
export const webhookMeanings = {
  auth: 'that a connection was created, was connected again, cannot be refreshed, or can again',
  sync: 'that a run has ended, and how many records it added, updated and deleted; they can be read when it arrives',
  async_action: 'that the output of an action can be fetched',
  forward: 'a webhook of a provider, with its connection',
  test: 'nothing: sent on request',
};
export type WebhookKind = keyof typeof webhookMeanings;
export const webhookKinds = Object.keys(webhookMeanings) as WebhookKind[];
/**
 * The target of a message: `primary` and `secondary` are addresses of the environment, `connection` is the connection's
 * own address, which replaces all others; any other value is the id of a webhook endpoint.
 */
export type EndpointId = string;
export type DeliveryAction =
  'created' | 'attempt_succeeded' | 'attempt_failed' | 'exhausted' | 'replayed' | 'cancelled';

/**
 * A value of `svc.webhooks-out.v1` after the common fields.
 * @see schemas/webhooks/webhook-out.v1.avsc
 */
export interface DeliveryStep {
  /** The same at every endpoint and in every attempt: receivers de-duplicate on it. */
  readonly message_id: string;
  readonly endpoint_id: EndpointId;
  readonly action: DeliveryAction;
  readonly event_kind: WebhookKind;
  /** On `created` only: the bytes to send, sealed under the key of the environment. */
  readonly body: Uint8Array | null;
  /** On `created` only, when no connection has the URL: sealed like the body. */
  readonly address: Uint8Array | null;
  /** On `created` of a forwarded webhook only: the provider's headers as JSON, sealed like the body. */
  readonly headers: Uint8Array | null;
  /** From 1; 0 on `created`. */
  readonly attempt: number;
  readonly status: number | null;
  readonly latency_ms: number | null;
  readonly next_attempt_at: Micros | null;
  readonly error_code: string | null;
  readonly replay_of: string | null;
}

/** The whole value. */
export type WebhookOut = PublicFields & DeliveryStep;

/** Sealing context of the address. */
export const addressContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out-address/${messageId}`;

/** Sealing context of the headers. */
export const headersContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out-headers/${messageId}`;

/** What the sealed body is bound to. */
export const deliveryContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out/${messageId}`;
