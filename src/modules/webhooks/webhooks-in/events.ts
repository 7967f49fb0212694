import type { PublicFields } from '#kernel/public-fields.ts';
import type * as values from '#streams/values.ts';

/**
 * The outcome of a webhook of a provider. `received`: stored, and not evaluated yet; `unmatched`: valid, without a
 * connection; `duplicate`: a repeat by the provider; `reprocessed`: evaluated again, and accepted; `refused`: not one
 * webhook, but the number of unverified ones of an hour that were not stored.
 */
export const dispositions = [
  'received',
  'accepted',
  'rejected',
  'unmatched',
  'duplicate',
  'reprocessed',
  'refused',
] as const;

export type Disposition = (typeof dispositions)[number];

/** A value of `svc.webhooks-in.v1`. */
export interface WebhookIn extends values.WebhookIn {
  readonly disposition: Disposition;
}

/** The same without the common fields; the sealed `request` is a `KeptRequest`. */
export type IncomingStep = Omit<WebhookIn, keyof PublicFields>;

/** The stored parts of a request beside its body, so that it can be evaluated again. */
export interface KeptRequest {
  readonly headers: Readonly<Record<string, string>>;
  /** Text after `?`. */
  readonly search: string;
}
