/** `svc/client`: the API from Node, typed by its OpenAPI document. */
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
