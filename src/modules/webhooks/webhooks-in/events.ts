import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { Micros } from '../../../kernel/time.ts';

/**
 * The outcome of a webhook of a provider. `received`: stored, and not evaluated yet; `unmatched`: valid, without a
 * connection; `duplicate`: a repeat by the provider; `reprocessed`: evaluated again, and accepted; `refused`: not one
 * webhook, but the number of unverified ones of an hour that were not stored.
 */
export type Disposition =
  'received' | 'accepted' | 'rejected' | 'unmatched' | 'duplicate' | 'reprocessed' | 'refused';

/**
 * A value of `svc.webhooks-in.v1` after the common fields.
 * @see schemas/webhooks/webhook-in.v1.avsc
 */
export interface IncomingStep {
  readonly delivery_id: string;
  readonly disposition: Disposition;
  readonly reason: string | null;
  /** Status of the response to the provider. */
  readonly status: number | null;
  readonly provider_delivery_id: string | null;
  readonly matched_connections: readonly string[];
  /** Type of the webhook. */
  readonly subscription: string | null;
  readonly run_ids: readonly string[];
  /** Headers without secrets. */
  readonly headers: Readonly<Record<string, string>>;
  /** On `received` only: the received bytes, sealed under the key of the environment; null when they are not stored. */
  readonly body: Uint8Array | null;
  /** On `received` only: `KeptRequest` as JSON, sealed likewise. */
  readonly request: Uint8Array | null;
  readonly body_hash: string;
  readonly received_at: Micros;
  /** On `refused` only: a lower bound of the number so far. */
  readonly refused_count: number | null;
}

/** The whole value. */
export type WebhookIn = PublicFields & IncomingStep;

/** The stored parts of a request beside its body, so that it can be evaluated again. */
export interface KeptRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Text after `?`. */
  readonly search: string;
}

/** What the sealed body is bound to. */
export const bodyContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in/${deliveryId}`;

/** Sealing context of the rest of the request. */
export const requestContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in-request/${deliveryId}`;
