import { z } from 'zod';
import { lookupSteps } from './lookup-rules.ts';
import { proxy } from './proxy-rules.ts';
import { authModes, mapOf, optional, params, svg, text, textMap, texts } from './schema-parts.ts';
import { webhookRules } from './webhook-rules.ts';

/**
 * The format of a catalog entry: a field that is not here is refused. The descriptions are published with the JSON
 * Schema of overlays and in docs/reference/provider-format.md.
 */

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
    enum: optional(texts, 'The values that are allowed: the form offers them as a choice.'),
    enum_titles: optional(
      mapOf(title),
      'Map of a value of `enum` to its title in the choice, such as the name of a region; the value itself by default.',
    ),
    example: optional(z.string(), 'Shown in the form as an example of a value.'),
    default_value: optional(
      z.string(),
      'Used where a connection lacks the field (`connection_config`), as one that is imported or older than the field; also the prefilled text of the form.',
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
    aliases: optional(
      texts,
      'Other names of the field in imports. A value of `connection_config` under one of them is the value of the field too. Those of a field of `credentials` are names in credentials of another mode, or in the `connection_config` beside them.',
    ),
    doc_section: optional(z.string(), 'Returned by the API; not used.'),
    warnings: optional(
      z.array(title),
      'What to know before the field is filled, as `title`: shown below it in the connect page and the console.',
    ),
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

export const identity = {
  display_name: text.describe('Name of the provider for people.'),
  categories: texts.describe('Categories of the provider for people.'),
  aliases: optional(
    texts,
    'Other names under which integrations and imports find the provider. An entry of such a name comes first; in an import only if no other has the mode of the credentials.',
  ),
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
    "Names that an installation or the provider's response fills. Templates may use them.",
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
  mcp_server_url: optional(
    text,
    '`MCP_OAUTH2`: address of the MCP server, a template; `proxy.base_url` by default.',
  ),
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
    'Map of scope to what it allows, as the setup and the connect page show it: a text, or a map of language to text.',
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
/** The client stands in the parameters: providers differ in what they want of it. */
const tokenCall = z.strictObject({
  url: optional(text, 'Address of the call, a template; `token_url` by default.'),
  method: z.enum(['GET', 'POST']).default('POST').describe('`POST` (default) or `GET`.'),
  params: params.describe(
    'All parameters of the call. Values are templates; `${accessToken}` is the token, `${clientId}` and `${clientSecret}` the client.',
  ),
  headers: optional(textMap, 'Headers of the call. Values are templates.'),
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
  aws_signature: optional(
    z.strictObject({
      service: text.describe('Code of the service, such as `s3`.'),
      region: text.describe('Code of the region.'),
    }),
    '`AWS_SIGV4`: `service` and `region` that calls are signed for. Templates.',
  ),
  introspection_url: optional(
    text,
    'Address that returns the expiry of `OAUTH2` tokens whose response names none (RFC 7662).',
  ),
};

export const refresh = {
  token_exchange: optional(
    tokenCall,
    '`OAUTH2`: after the sign-in the token is exchanged for one that lives longer. Has `url`, `method`, `params`, `headers`.',
  ),
  access_token_refresh: optional(
    tokenCall.extend({
      min_age_seconds: optional(
        z.number().int().positive(),
        'Age below which the provider refuses the refresh: none is tried before.',
      ),
    }),
    '`OAUTH2` without refresh tokens: the access token itself is refreshed while it is valid, also of connections that are not fetched. Has the fields of `token_exchange`, and `min_age_seconds`.',
  ),
  refresh_url: optional(
    text,
    'Address of the refresh; `token_url` by default for `OAUTH2`. Without it `TWO_STEP` repeats its first call.',
  ),
  refresh_params: optional(
    params,
    '`OAUTH2`: parameters of the refresh; `token_params` by default.',
  ),
  refresh_token_params: optional(params, '`TWO_STEP`: parameters of the refresh.'),
  refresh_token_headers: optional(
    textMap,
    'Headers of the refresh; `token_headers` by default. `OAUTH2`: with `authorization` among them the client is not in the body.',
  ),
  refresh_token_response_metadata: optional(
    texts,
    '`OAUTH2`: as `token_response_metadata`, for the refresh.',
  ),
};

export const revocation = z.strictObject({
  url: text.describe('Address of the call. A template, which may hold `${token}`.'),
  method: optional(
    z.enum(['POST', 'GET', 'DELETE']),
    '`POST` (default), `GET` or `DELETE`; with the last two the parameters are the query.',
  ),
  token: optional(
    z.enum(['refresh_token', 'access_token']),
    'Which token `${token}` is: `refresh_token` (default; the access token where there is none) or `access_token`.',
  ),
  params: optional(
    params,
    'Parameters of the call beside the client; `token` with `${token}` by default. Values are templates. An empty map: none.',
  ),
  body_format: optional(z.enum(['form', 'json', 'query']), '`form` (default), `json` or `query`.'),
  auth_method: optional(
    z.enum(['body', 'basic', 'bearer', 'none']),
    'How the call is authenticated: by the client in the `body` or as `basic`, by the access token as `bearer`, or `none`; by default as the client in token calls.',
  ),
  headers: optional(textMap, 'Headers of the call. Values are templates.'),
});

const noScript = 'Every name is refused: there are no such scripts.';

export const hooks = {
  webhook_routing: optional(webhookRules, 'How webhooks are verified and attributed.'),
  webhook_routing_script: optional(
    text,
    'A name. With it and without `webhook_routing`, webhooks are answered 400 `webhook_unknown_provider`.',
  ),
  connection_lookup: optional(
    lookupSteps,
    'Steps that read `connection_config` from the provider, or from a token, before the connection is made.',
  ),
  revocation: optional(
    revocation,
    'How the provider is asked to end the access of a deleted connection (RFC 7009), where the integration has `revoke_on_disconnect`.',
  ),
  post_connection_script: optional(
    text,
    'Earlier form of `connection_lookup`: `atlassianCloudId`, `docusignAccount`, `githubHandle`, `gmailAddress`, `mailchimpDataCentre` and `xeroTenant` stand for that of `jira`, `docusign`, `github-app-oauth`, `gmail`, `mailchimp` and `xero`.',
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
