/** The client of the API, typed by its OpenAPI document, and the verification of webhooks. */
export { ApiError } from './api-error.ts';
export {
  createClient,
  type Answer,
  type Arguments,
  type Client,
  type ClientOptions,
  type EventOperation,
  type Input,
  type Operation,
  type PagedOperation,
  type RequestOptions,
} from './client.ts';
export type { ServerEvent } from './server-events.ts';
export type * from './operations.ts';
export {
  isWebhook,
  verifyHmac,
  verifyWebhook,
  WebhookVerificationError,
  type AsyncActionWebhook,
  type AuthWebhook,
  type ForwardedWebhook,
  type SyncWebhook,
  type TestWebhook,
  type VerificationOptions,
  type VerifiedWebhook,
  type Webhook,
  type WebhookHeaders,
  type WebhookRequest,
  type WebhookVerificationCode,
} from './webhooks.ts';
export {
  createTypedClient,
  type RecordOf,
  type RecordsOptions,
  type TypedClient,
  type TypedConnection,
} from './client.ts';
