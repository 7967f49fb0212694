import { z } from 'zod';
import { mapOf } from '../../../http/fields.ts';
import { authModes } from './definition.ts';
import { webhookRules } from './webhook-rules.ts';

/** The format of a catalog entry (docs/reference/provider-format.md): a field that is not here is refused. */

const text = z.string().min(1);
const texts = z.array(text);
const textMap = mapOf(z.string(), z.string());
/** Parameters of calls may be nested; their leaves are interpolated when the call is made. */
const params = mapOf(z.string(), z.unknown());
const title = z.union([text, textMap]);

const field = z.strictObject({
  type: z.literal('string'),
  title,
  description: title,
  pattern: z.string().optional(),
  format: z.enum(['hostname', 'uri', 'uuid', 'email']).optional(),
  enum: texts.optional(),
  example: z.string().optional(),
  default_value: z.string().optional(),
  prefix: z.string().optional(),
  suffix: z.string().optional(),
  optional: z.boolean().optional(),
  secret: z.boolean().optional(),
  automated: z.boolean().optional(),
  hidden: z.boolean().optional(),
  order: z.number().optional(),
  doc_section: z.string().optional(),
  warnings: texts.optional(),
  visible_when: z.strictObject({ field: text, equals: z.string() }).optional(),
});
const fields = mapOf(z.string(), field);

const status = z.union([z.number().int(), z.string().regex(/^(\d{3}|\dxx|\d{3}-\d{3})$/)]);
const retry = z.strictObject({
  after: z.union([text.transform((name) => [name]), texts]).optional(),
  at: z.union([text.transform((name) => [name]), texts]).optional(),
  error_code: z
    .union([status.transform((code) => [String(code)]), z.array(status.transform(String))])
    .optional(),
  remaining: text.optional(),
  in_body: z
    .strictObject({ path: text, value: z.string().optional(), strategy: z.enum(['after', 'at']) })
    .optional(),
});

const paginate = z.strictObject({
  type: z.enum(['cursor', 'link', 'offset']).optional(),
  cursor_path_in_response: text.optional(),
  cursor_name_in_request: text.optional(),
  link_rel_in_response_header: text.optional(),
  link_path_in_response_body: text.optional(),
  offset_name_in_request: text.optional(),
  offset_start_value: z.number().optional(),
  offset_calculation_method: z.enum(['by-response-size', 'per-page']).optional(),
  limit_name_in_request: text.optional(),
  limit: z.number().int().min(1).optional(),
  response_path: z.string().optional(),
  in_body: z.boolean().optional(),
});

const verification = z.strictObject({
  method: z.enum(['GET', 'POST']).optional(),
  endpoints: texts.min(1),
  headers: textMap.optional(),
  data: z.unknown().optional(),
  base_url_override: text.optional(),
});

const proxy = z.strictObject({
  base_url: text.optional(),
  headers: textMap.optional(),
  query: textMap.optional(),
  body: params.optional(),
  decompress: z.boolean().optional(),
  forward_headers_on_redirect: z.boolean().optional(),
  connection_config: textMap.optional(),
  paginate: paginate.optional(),
  retry: retry.optional(),
  verification: verification.optional(),
});

const identity = {
  display_name: text,
  categories: texts,
  auth_mode: z.enum(authModes),
  docs: text,
  docs_connect: text.optional(),
  setup_guide_url: text.optional(),
  auth_type: text.optional(),
};

const inputs = {
  credentials: fields.optional(),
  connection_config: fields.optional(),
  integration_config: fields.optional(),
  assertion_option: fields.optional(),
  connection_configuration: texts.optional(),
};

const authorization = {
  authorization_url: text.optional(),
  authorization_params: params.optional(),
  scope_separator: z.string().optional(),
  default_scopes: texts.optional(),
  available_scopes: texts.optional(),
  disable_pkce: z.boolean().optional(),
  redirect_uri_metadata: texts.optional(),
  authorization_url_replacements: textMap.optional(),
  authorization_url_skip_empty: z.boolean().optional(),
  authorization_url_skip_encode: texts.optional(),
  authorization_url_fragment: text.optional(),
  authorization_code_param_in_callback: text.optional(),
  authorization_issuer: text.optional(),
  authorization_code_param_in_webhook: text.optional(),
  installation: z.literal('outbound').optional(),
  request_url: text.optional(),
  request_params: params.optional(),
  signature_method: z.enum(['HMAC-SHA1', 'PLAINTEXT']).optional(),
};

const signing = z.strictObject({
  protocol: z.enum(['RSA', 'EC', 'HMAC', 'WSSE']),
  hmac_secret_encoding: z.enum(['hex', 'utf8']).optional(),
});
const tokenTemplate = z.strictObject({
  signing_key: text.optional(),
  expires_in_ms: z.number().int().min(1),
  header: params.optional(),
  payload: params.optional(),
});
const tokenStep = z.strictObject({
  token_url: text,
  token_params: params.optional(),
  token_headers: textMap.optional(),
  token_request_method: z.enum(['GET', 'POST']).optional(),
});
const tokenResponse = z.strictObject({
  token: text,
  token_expiration: text.optional(),
  token_expiration_strategy: z.enum(['expireAt', 'expireIn']).optional(),
  refresh_token: text.optional(),
});

const token = {
  token_url: z.union([text, z.strictObject({ OAUTH2: text, APP: text })]).optional(),
  token_params: params.optional(),
  token_headers: textMap.optional(),
  token_request_auth_method: z.enum(['basic', 'custom', 'private_key_jwt']).optional(),
  authorization_method: z.enum(['header', 'body']).optional(),
  token_request_method: z.enum(['GET', 'POST']).optional(),
  body_format: z.enum(['json', 'form', 'query', 'xml']).optional(),
  token_response: tokenResponse.optional(),
  token_response_metadata: texts.optional(),
  token_response_headers: texts.optional(),
  alternate_access_token_response_path: text.optional(),
  token_expires_in_ms: z.number().optional(),
  token_expiration_buffer: z.number().optional(),
  expires_in_unit: z.enum(['seconds', 'milliseconds']).optional(),
  token_url_skip_encode: texts.optional(),
  require_client_certificate: z.boolean().optional(),
  additional_steps: z.array(tokenStep).optional(),
  signature: signing.optional(),
  token: tokenTemplate.optional(),
  introspection_url: text.optional(),
  refresh_params: params.optional(),
  refresh_url: text.optional(),
  refresh_token_params: params.optional(),
  refresh_token_headers: textMap.optional(),
  refresh_token_response_metadata: texts.optional(),
};

const hooks = {
  webhook_routing_script: text.optional(),
  webhook_routing: webhookRules.optional(),
  webhook_user_defined_secret: z.boolean().optional(),
  webhook_allowed_query_params: texts.optional(),
  webhook_response_metadata: texts.optional(),
  post_connection_script: text.optional(),
  pre_connection_deletion_script: text.optional(),
  pre_connection_creation_script: text.optional(),
  credentials_verification_script: text.optional(),
};

export const definitionSchema = z.strictObject({
  ...identity,
  ...inputs,
  ...authorization,
  ...token,
  ...hooks,
  proxy: proxy.optional(),
});

export type Definition = z.output<typeof definitionSchema>;
