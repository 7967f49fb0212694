/** `svc/client`: the API from Node, typed by its OpenAPI document. */
export { ApiError } from './api-error.ts';
export {
  createClient,
  type Answer,
  type Client,
  type ClientOptions,
  type Input,
  type Operation,
  type RequestOptions,
} from './client.ts';
export type * from './operations.ts';
