import { z } from 'zod';
import type { Json } from '#kernel/stable-json.ts';
import { authModes, mapOf, optional, svg, text, texts } from './schema-parts.ts';
import { webhookRules } from './webhook-rules.ts';

/**
 * The format of a catalog entry: a field that is not here is refused. The descriptions are published with the JSON
 * Schema of overlays and in docs/reference/provider-format.md.
 */

const textMap = mapOf(z.string());
/** Parameters of calls may be nested; their leaves are interpolated at call time. */
const params = mapOf(z.custom<Json>());
const title = z.union([text, textMap]);

export const field = z
  .strictObject({
    type: z.literal('string').describe('`string`.'),
    title: title.describe('A text, or a map of language (`en`, `es`, `fr`, `de`) to text.'),
    description: title.describe('As `title`.'),
    pattern: optional(z.string(), 'Regular expression that the value must match.'),
    format: optional(
      z.enum(['hostname', 'uri', 'uuid', 'email']),
      '`hostname`, `uri`, `uuid` or `email`.',
    ),
    enum: optional(texts, 'The values that are allowed.'),
    example: optional(z.string(), 'Shown in the form as an example of a value.'),
    default_value: optional(
      z.string(),
      'Used when the field is missing (`connection_config`); also the prefilled text of the form.',
    ),
    prefix: optional(z.string(), 'Shown before the input. Not stored.'),
    suffix: optional(z.string(), 'Shown after the input. Not stored.'),
    optional: optional(z.boolean(), 'True: the field may be left empty. Default false.'),
    secret: optional(
      z.boolean(),
      'True: the form masks the input. By default keys, passwords, secrets and tokens are masked, by their name.',
    ),
    automated: optional(
      z.boolean(),
      'True: the service fills the field. The form does not ask for it, and it is refused in `params`.',
    ),
    hidden: optional(z.boolean(), 'True: the form leaves the field out.'),
    order: optional(z.number(), 'Place of the field in the form.'),
    doc_section: optional(z.string(), 'Returned by the API; not used.'),
    warnings: optional(texts, 'Returned by the API; not used.'),
    visible_when: optional(
      z.strictObject({
        field: text.describe('Name of the other field.'),
        equals: z.string().describe('Its value.'),
      }),
      '`field` and `equals`: asked for, and required, only while the other field has that value.',
    ),
  })
  .meta({ id: 'field' });
const fields = mapOf(field);

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
  retry: optional(retry, 'When and how calls of functions and of the proxy are retried.'),
  verification: optional(verification, 'The call that tests credentials.'),
});

export const identity = {
  display_name: text.describe('Name of the provider for people.'),
  categories: texts.describe('Categories of the provider for people.'),
  auth_mode: z.enum(authModes).describe('The authentication mode.'),
  docs: text.describe('Address of the documentation.'),
  docs_connect: optional(
    text,
    'Address that the connect page offers to people who need help with the form.',
  ),
  setup_guide_url: optional(
    text,
    'Page of the provider on which an app is registered; the console and the command line link to it.',
  ),
  logo: optional(
    svg,
    'The logo as SVG, at most 16 KB. Without it, a mark or the initials on a color. `logo_url` serves it.',
  ),
  auth_type: optional(text, 'Returned by the API; not used.'),
};

const inputs = {
  credentials: optional(
    fields,
    'Fields that the person fills in the form, or that an import has. Stored as credentials of the connection.',
  ),
  connection_config: optional(
    fields,
    'Fields that the person or the application fills. Stored as `connection_config` of the connection.',
  ),
  integration_config: optional(
    fields,
    'Fields that the developer fills with the integration. Stored as `integration_config` of the integration.',
  ),
  assertion_option: optional(
    fields,
    'Fields that the person fills while connecting by `TWO_STEP`. Not stored: the values serve one consent.',
  ),
  connection_configuration: optional(
    texts,
    "Names that a script or the provider's response fills. Templates may use them.",
  ),
};

export const authorization = {
  authorization_url: optional(text, 'Address that the browser is sent to. A template.'),
  authorization_params: optional(params, 'Query parameters of that address.'),
  authorization_url_skip_encode: optional(
    texts,
    '`base_url`: values in the address are not percent-encoded. `scopes`: of the scope only what would end or change the parameter is encoded.',
  ),
  authorization_url_skip_empty: optional(z.boolean(), 'True: empty parameters are left out.'),
  authorization_url_replacements: optional(
    textMap,
    'Map of text to text, replaced once each in the finished address.',
  ),
  authorization_url_fragment: optional(text, 'Put before the `?` of the address.'),
  authorization_code_param_in_callback: optional(
    text,
    'Name of the parameter with the code; `code` by default.',
  ),
  authorization_issuer: optional(
    text,
    'The `iss` that each callback carries (RFC 9207), a template. Mode `OAUTH2` only. Without it `iss` is ignored.',
  ),
  redirect_uri_metadata: optional(
    texts,
    'Names of callback parameters that become `connection_config`.',
  ),
  default_scopes: optional(texts, 'Scopes of an integration that names none.'),
  scope_separator: optional(z.string(), 'Between scopes; a space by default.'),
  disable_pkce: optional(z.boolean(), 'True: no code challenge is sent (RFC 7636).'),
  request_url: optional(text, '`OAUTH1`: address that issues the request token.'),
  request_params: optional(params, '`OAUTH1`: parameters of that call.'),
  signature_method: optional(
    z.enum(['HMAC-SHA1', 'PLAINTEXT']),
    '`OAUTH1`: `HMAC-SHA1` (default) or `PLAINTEXT`.',
  ),
  installation: optional(
    z.literal('outbound'),
    '`outbound`: the person installs the app at the provider, which announces it by a webhook. The connection is pending until then.',
  ),
  available_scopes: optional(
    texts,
    'Scopes that the setup of an integration offers, beside `default_scopes`. Others can be entered.',
  ),
  scope_descriptions: optional(
    mapOf(title),
    'Map of scope to what it allows, as the setup shows it: a text, or a map of language to text.',
  ),
  authorization_code_param_in_webhook: optional(text, 'Returned by the API; not used.'),
};

const signing = z.strictObject({
  protocol: z.enum(['RSA', 'EC', 'HMAC', 'WSSE']).describe('`RSA`, `EC`, `HMAC` or `WSSE`.'),
  hmac_secret_encoding: optional(
    z.enum(['hex', 'utf8']),
    'Encoding of the secret of `HMAC`: `hex` or `utf8`.',
  ),
});
const tokenTemplate = z.strictObject({
  signing_key: optional(text, 'The key. A template.'),
  expires_in_ms: z.number().int().min(1).describe('Lifetime of the token.'),
  header: optional(params, 'Header of the token. Values are templates.'),
  payload: optional(params, 'Claims of the token. Values are templates.'),
});

const callFields = {
  token_params: optional(params, 'Parameters of the call. Values are templates.'),
  token_headers: optional(textMap, 'Headers of the call. Values are templates.'),
  token_request_method: optional(
    z.enum(['GET', 'POST']),
    '`POST` (default) or `GET`; with `GET` the parameters are the query.',
  ),
};
const tokenStep = z.strictObject({
  token_url: text.describe('Address of the call. A template.'),
  ...callFields,
});
const tokenResponse = z.strictObject({
  token: text.describe('Dotted path of the token.'),
  token_expiration: optional(text, 'Dotted path of the expiry.'),
  token_expiration_strategy: optional(
    z.enum(['expireAt', 'expireIn']),
    '`expireAt`: the expiry is a time; `expireIn`: a duration.',
  ),
  refresh_token: optional(text, 'Dotted path of the refresh token.'),
});

export const tokenCalls = {
  token_url: optional(
    z.union([
      text,
      z.strictObject({
        OAUTH2: text.describe("Of the user's half."),
        APP: text.describe("Of the app's half."),
      }),
    ]),
    'A template, or `{ OAUTH2, APP }` for the two halves of `CUSTOM`.',
  ),
  token_url_skip_encode: optional(
    texts,
    '`base_url`: values in the address are not percent-encoded.',
  ),
  ...callFields,
  body_format: optional(
    z.enum(['json', 'form', 'query', 'xml']),
    '`form`, `json`, `query` or `xml`. The default is `form`, for `TWO_STEP` `json`.',
  ),
  token_request_auth_method: optional(
    z.enum(['basic', 'custom', 'private_key_jwt']),
    'How the client authenticates: `basic`, `custom`, `private_key_jwt`; in the body by default.',
  ),
  authorization_method: optional(
    z.enum(['header', 'body']),
    '`OAUTH2`: `header` means the same as `basic`.',
  ),
  require_client_certificate: optional(
    z.boolean(),
    'True: token calls of `OAUTH2_CC` use mutual TLS.',
  ),
  alternate_access_token_response_path: optional(
    text,
    '`OAUTH2`: dotted path of the token in a response without `access_token`.',
  ),
  token_response: optional(
    tokenResponse,
    '`TWO_STEP`: dotted paths `token`, `token_expiration`, `refresh_token`, and `token_expiration_strategy` (`expireAt` or `expireIn`).',
  ),
  token_response_metadata: optional(
    texts,
    'Dotted paths of the response, copied to `connection_config` under the same names.',
  ),
  token_response_headers: optional(
    texts,
    '`set-cookie`: cookies of the response become `_cookies` of the credentials (`TWO_STEP`).',
  ),
  token_expires_in_ms: optional(
    z.number(),
    '`TWO_STEP`: lifetime where the response names none; 0 means that the token does not expire.',
  ),
  token_expiration_buffer: optional(
    z.number(),
    'Seconds before expiry at which a refresh is due, in place of 15 minutes.',
  ),
  expires_in_unit: optional(
    z.enum(['seconds', 'milliseconds']),
    'Unit of the lifetime in the response: `seconds` (default) or `milliseconds`.',
  ),
  additional_steps: optional(
    z.array(tokenStep),
    '`TWO_STEP`: further calls, each with `token_url`, `token_params`, `token_headers`, `token_request_method`.',
  ),
  signature: optional(
    signing,
    '`protocol` (`RSA`, `EC`, `HMAC`, `WSSE`) and `hmac_secret_encoding` (`hex` or `utf8`) of tokens that the service signs.',
  ),
  token: optional(
    tokenTemplate,
    'The token to sign: `signing_key`, `expires_in_ms`, `header`, `payload`.',
  ),
  introspection_url: optional(
    text,
    'Address that returns the expiry of `OAUTH2` tokens whose response names none (RFC 7662).',
  ),
};

export const refresh = {
  refresh_url: optional(
    text,
    'Address of the refresh; `token_url` by default for `OAUTH2`. Without it `TWO_STEP` repeats its first call.',
  ),
  refresh_params: optional(
    params,
    '`OAUTH2`: parameters of the refresh; `token_params` by default.',
  ),
  refresh_token_params: optional(params, '`TWO_STEP`: parameters of the refresh.'),
  refresh_token_headers: optional(textMap, 'Headers of the refresh; `token_headers` by default.'),
  refresh_token_response_metadata: optional(
    texts,
    '`OAUTH2`: as `token_response_metadata`, for the refresh.',
  ),
};

const noScript = 'Every name is refused: there are no such scripts.';

export const hooks = {
  webhook_routing: optional(webhookRules, 'How webhooks are verified and attributed.'),
  webhook_routing_script: optional(
    text,
    'A name. With it and without `webhook_routing`, webhooks are answered 400 `webhook_unknown_provider`.',
  ),
  post_connection_script: optional(
    text,
    'One of `atlassianCloudId`, `docusignAccount`, `githubHandle`, `gmailAddress`, `mailchimpDataCentre`, `xeroTenant`: gets configuration from the provider.',
  ),
  pre_connection_creation_script: optional(text, noScript),
  pre_connection_deletion_script: optional(text, noScript),
  credentials_verification_script: optional(text, noScript),
  webhook_user_defined_secret: optional(z.boolean(), 'Returned by the API; not used.'),
  webhook_allowed_query_params: optional(texts, 'Returned by the API; not used.'),
  webhook_response_metadata: optional(texts, 'Returned by the API; not used.'),
};

export const definitionSchema = z.strictObject({
  ...identity,
  ...inputs,
  ...authorization,
  ...tokenCalls,
  ...refresh,
  ...hooks,
  proxy: optional(proxy, 'How calls to the API are made.'),
});

export type Definition = z.output<typeof definitionSchema>;
