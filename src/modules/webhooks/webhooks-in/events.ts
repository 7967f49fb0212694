import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { Micros } from '../../../kernel/time.ts';

/**
 * What became of a webhook of a provider. `received`: stored, and not judged yet; `unmatched`: good, and of no
 * connection; `duplicate`: its provider had sent it before; `reprocessed`: judged once more, and accepted; `refused`: not one
 * webhook, but how many of an hour were not kept, since nothing vouched for them.
 */
export type Disposition =
  'received' | 'accepted' | 'rejected' | 'unmatched' | 'duplicate' | 'reprocessed' | 'refused';

/** A value of `svc.webhooks-in.v1` after the common fields. Mirrors schemas/webhooks/webhook-in.v1.avsc. */
export interface IncomingStep {
  readonly delivery_id: string;
  readonly disposition: Disposition;
  readonly reason: string | null;
  /** Of the answer to the provider. */
  readonly status: number | null;
  readonly provider_delivery_id: string | null;
  readonly matched_connections: readonly string[];
  /** Type of the webhook. */
  readonly subscription: string | null;
  readonly run_ids: readonly string[];
  /** Those that hold nothing secret. */
  readonly headers: Readonly<Record<string, string>>;
  /** On `received` only: the bytes that came in, sealed under the key of the environment; null when they are not kept. */
  readonly body: Uint8Array | null;
  /** On `received` only: `KeptRequest` as JSON, sealed likewise. */
  readonly request: Uint8Array | null;
  readonly body_hash: string;
  readonly received_at: Micros;
  /** On `refused` only: how many so far, or more. */
  readonly refused_count: number | null;
}

/** The whole value. */
export type WebhookIn = PublicFields & IncomingStep;

/** What is kept of a request beside its body, so that it can be judged again. */
export interface KeptRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Text after `?`. */
  readonly search: string;
}

/** What the sealed body is bound to. */
export const bodyContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in/${deliveryId}`;

/** What the sealed rest of the request is bound to. */
export const requestContext = (environmentUid: string, deliveryId: string): string =>
  `${environmentUid}/webhook-in-request/${deliveryId}`;
