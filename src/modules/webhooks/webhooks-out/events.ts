import type { PublicFields } from '#kernel/public-fields.ts';
import type * as values from '#streams/values.ts';

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
  | 'created'
  | 'filtered'
  | 'attempt_succeeded'
  | 'attempt_failed'
  | 'exhausted'
  | 'replayed'
  | 'cancelled';

/** A value of `svc.webhooks-out.v1`; body, address and headers only on `created` and `filtered`. */
export interface WebhookOut extends values.WebhookOut {
  readonly endpoint_id: EndpointId;
  readonly action: DeliveryAction;
  readonly event_kind: WebhookKind;
}

/** Whether it is the message that a delivery begins with, which holds the body. */
export const isFirstStep = ({ action }: Pick<WebhookOut, 'action'>): boolean =>
  action === 'created' || action === 'filtered';

/** The same without the common fields. */
export type DeliveryStep = Omit<WebhookOut, keyof PublicFields>;

/** Sealing context of the address. */
export const addressContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out-address/${messageId}`;

/** Sealing context of the headers. */
export const headersContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out-headers/${messageId}`;

/** What the sealed body is bound to. */
export const deliveryContext = (environmentUid: string, messageId: string): string =>
  `${environmentUid}/webhook-out/${messageId}`;
