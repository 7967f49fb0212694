import { z } from 'zod';
import { optional, params, text, textMap, texts } from './schema-parts.ts';

/** How calls to the API are made, retried, paged and verified (`proxy` of a definition). */

const status = z.union([z.number().int(), z.string().regex(/^(\d{3}|\dxx|\d{3}-\d{3})$/)]);
const oneOrMoreTexts = z.union([text.transform((name) => [name]), texts]);

/** One way in which a provider reports that a limit was reached. */
const limitRule = z
  .strictObject({
    statuses: z
      .array(status.transform(String))
      .nonempty()
      .describe(
        'Statuses: `403`, `4xx` or `400-403`; 200 where a successful response may report it.',
      ),
    header: optional(text, 'Header that the response has.'),
    body: optional(text, 'Dotted path in the body (JSON); `*` is each item of a list.'),
    values: optional(texts, 'The values of a limit; by default any.'),
    contains: optional(text, 'Part of the value of a limit, in any case.'),
    wait: optional(z.number().positive(), 'Seconds to wait when no header states them.'),
  })
  .refine((rule) => (rule.header === undefined) !== (rule.body === undefined), {
    error: 'Name either header or body.',
  });

export const retry = z.strictObject({
  after: optional(oneOrMoreTexts, 'Headers with seconds to wait.'),
  at: optional(
    oneOrMoreTexts,
    'Headers with a time: epoch seconds, epoch milliseconds, or a date.',
  ),
  error_code: optional(
    z.union([status.transform((code) => [String(code)]), z.array(status.transform(String))]),
    'Statuses to retry, in place of 401, 429 and 5xx: `403`, `5xx` or `500-502`.',
  ),
  remaining: optional(
    text,
    'Header with the calls that are left: 403 with 0 is a limit, and with calls left a reset is no reason to wait.',
  ),
  limited: optional(
    z.array(limitRule),
    'Responses with other statuses that are a limit too; each has `statuses`, `header` or `body`, `values`, `contains`, `wait`.',
  ),
  in_body: optional(
    z.strictObject({
      path: text.describe('Dotted path of the wait in the body.'),
      value: optional(z.string(), 'Regular expression whose first group is the wait.'),
      strategy: z.enum(['after', 'at']).describe('`after`: seconds to wait; `at`: a time.'),
    }),
    '`path` (dotted), `value` (expression whose first group is the wait), `strategy` (`after` or `at`).',
  ),
});

const rateLimitSecondsMax = 86_400;
const rateLimitRequestsMax = 1_000_000;

/** Of an account at the provider: so many requests within any span of so many seconds. */
export const rateLimit = z.strictObject({
  requests: z.int().min(1).max(rateLimitRequestsMax).describe('Requests in the span.'),
  seconds: z.number().min(1).max(rateLimitSecondsMax).describe('The span in seconds.'),
  per: z
    .enum(['integration', 'connection'])
    .describe('Whose requests count together: of all connections, or of each by itself.'),
});

export const paginate = z.strictObject({
  type: optional(z.enum(['cursor', 'link', 'offset']), '`cursor`, `link` or `offset`.'),
  cursor_path_in_response: optional(text, '`cursor`: dotted path of the next cursor in the body.'),
  cursor_name_in_request: optional(text, '`cursor`: parameter that carries the cursor.'),
  link_rel_in_response_header: optional(
    text,
    '`link`: relation of the next page in the header `Link`.',
  ),
  link_path_in_response_body: optional(
    text,
    '`link`: dotted path of the next address in the body.',
  ),
  offset_name_in_request: optional(text, '`offset`: parameter that carries the offset.'),
  offset_start_value: optional(z.number(), '`offset`: the first offset; 0 by default.'),
  offset_calculation_method: optional(
    z.enum(['by-response-size', 'per-page']),
    '`offset`: `by-response-size` (default) adds the number of items of the page, `per-page` adds 1.',
  ),
  limit_name_in_request: optional(text, 'Parameter that carries `limit`.'),
  limit: optional(z.number().int().min(1), 'Items of a page.'),
  response_path: optional(z.string(), 'Dotted path of the items in the body.'),
  in_body: optional(
    z.boolean(),
    'True: the parameters go into the body; false: into the query. By default into the body of `POST`, `PUT` and `PATCH`.',
  ),
});

export const verification = z.strictObject({
  method: optional(z.enum(['GET', 'POST']), '`GET` (default) or `POST`.'),
  endpoints: texts.min(1).describe('Paths, tried in order.'),
  headers: optional(textMap, 'Further headers. Values are templates.'),
  data: optional(z.unknown(), 'Body of the call.'),
  base_url_override: optional(text, 'Used in place of `proxy.base_url`.'),
});

export const proxy = z.strictObject({
  base_url: optional(
    text,
    'A template. Joined to the path of a call with one `/`; a call cannot leave it.',
  ),
  headers: optional(textMap, 'Templates. A header that cannot be filled is left out.'),
  query: optional(textMap, 'Templates. A parameter that cannot be filled is left out.'),
  body: optional(
    params,
    "Fields added to JSON and form bodies. On a conflict the caller's field wins.",
  ),
  decompress: optional(
    z.boolean(),
    'True: the proxy requests compressed responses and passes them on decompressed.',
  ),
  forward_headers_on_redirect: optional(
    z.boolean(),
    'True: injected headers stay when a redirect leaves the origin. Otherwise they are dropped there.',
  ),
  connection_config: optional(
    textMap,
    "Further values for templates, themselves templates. On a conflict the connection's value wins.",
  ),
  paginate: optional(paginate, 'Defaults of `svc.paginate`. The proxy does not paginate.'),
  rate_limit: optional(
    rateLimit,
    'A limit that the provider documents for every plan: `requests` in `seconds`, `per` `integration` or `connection`. An integration may set another, or none.',
  ),
  retry: optional(retry, 'When and how calls of functions and of the proxy are retried.'),
  verification: optional(verification, 'The call that tests credentials.'),
});
