export type HttpMethod =
  | 'GET'
  | 'POST'
  | 'PUT'
  | 'PATCH'
  | 'DELETE'
  | 'get'
  | 'post'
  | 'put'
  | 'patch'
  | 'delete';

type QueryValue = string | number | boolean | Date | null | undefined;

/** One request to the provider of the connection, whose credentials are injected. */
export interface ProxyConfiguration {
  /**
   * Joined to the provider's base URL with one `/`. May carry a query of its own, and the placeholders
   * `${connectionConfig.x}`, `${metadata.x}` and those of credentials.
   */
  endpoint: string;
  /** Default GET. `svc.get` and its siblings set their own. */
  method?: HttpMethod;
  /**
   * Each key replaces that key of the endpoint's query; lists are joined by commas; undefined and null are omitted.
   * Text is the whole query: an error if the endpoint has one already.
   */
  params?: string | Record<string, QueryValue | readonly QueryValue[]> | URLSearchParams;
  /** Override the provider's headers, including `authorization`. */
  headers?: Record<string, string>;
  /**
   * Sent with POST, PUT, PATCH and DELETE. Objects become JSON unless `content-type` is a form; a `URLSearchParams`
   * becomes a form; text and bytes are sent unchanged.
   */
  data?: unknown;
  /** Extra attempts after a temporary failure, at most 10. Default 0: none, whatever the response. */
  retries?: number;
  /** Statuses retried in addition to 401, 429 and 5xx, or to those of the provider's definition. */
  retryOn?: number[];
  /** Response headers with the time of the next attempt: `at` a time, `after` seconds. The longest wait applies. */
  retryHeader?: { at?: string | string[]; after?: string | string[] };
  /** Used by `svc.paginate`; overrides the provider's own settings. */
  paginate?: PaginationConfiguration;
  /** Replaces the provider's base URL; may have a path. */
  baseUrlOverride?: string;
  /** Default `json`: parsed if it is valid JSON, text otherwise. `arraybuffer` returns a Buffer. */
  responseType?: 'json' | 'text' | 'arraybuffer' | 'blob' | 'document';
  /** Responses are always decompressed; accepted for compatibility. */
  decompress?: boolean;
  /** Keep the headers when a redirect leaves the host. Default false. */
  forwardHeadersOnRedirect?: boolean;
  /** With `connectionId`: another connection of the same environment. */
  providerConfigKey?: string;
  connectionId?: string;
}

interface CommonPagination {
  /** Name of the page size's parameter. */
  limit_name_in_request?: string;
  /** Page size, sent on every page. */
  limit?: number;
  /** Dotted path of the rows; default: the whole response. */
  response_path?: string;
  /** Whether the parameters are sent in the body. Default: yes for POST, PUT and PATCH. */
  in_body?: boolean;
  /**
   * Called when the loop requests the next page, that is, after the loop's body has processed this one. Not called
   * for a short last page of `offset`.
   */
  on_page?: (page: {
    nextPageParam: string | number | undefined;
    response: ProxyResponse;
  }) => void | Promise<void>;
}

interface CursorPagination extends CommonPagination {
  type: 'cursor';
  /** Dotted path of the next cursor. */
  cursor_path_in_response?: string;
  cursor_name_in_request?: string;
}

interface LinkPagination extends CommonPagination {
  type: 'link';
  /** Relation in the `Link` header, for example `next`. */
  link_rel_in_response_header?: string;
  /** Dotted path of the next link. */
  link_path_in_response_body?: string;
}

interface OffsetPagination extends CommonPagination {
  type: 'offset';
  offset_name_in_request?: string;
  /** Default 0. */
  offset_start_value?: number;
  /** Default `by-response-size`: the offset counts rows; `per-page` counts pages. */
  offset_calculation_method?: 'by-response-size' | 'per-page';
}

/** Without `type` the provider's own is used. */
export type PaginationConfiguration =
  | CursorPagination
  | LinkPagination
  | OffsetPagination
  | (CommonPagination & { type?: never });

/** Lower-case names. Several values of one header are joined by `, `; cookies are a list. */
export interface ResponseHeaders {
  'set-cookie'?: string[];
  // oxlint-disable-next-line typescript/no-explicit-any -- text, except the list above
  [name: string]: any;
}

/** A 2xx response. Any other status throws, after the retries. */
// oxlint-disable-next-line typescript/no-explicit-any -- the provider's data; `get<T>` types it
export interface ProxyResponse<T = any> {
  data: T;
  status: number;
  statusText: string;
  headers: ResponseHeaders;
  config: ProxyConfiguration & { url: string };
  request: object;
}

/** A plain request without credentials, retries or the provider's base URL. */
export interface FetchOptions {
  url: URL | string;
  method?: HttpMethod;
  headers?: Record<string, string> | Headers;
  body?: string | URLSearchParams | FormData | Blob | Uint8Array | ArrayBuffer;
}
