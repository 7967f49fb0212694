import type { WebhookRules } from './webhook-rules.ts';
import type { JsonObject } from '../../../kernel/stable-json.ts';

/** The authentication modes (docs/reference/auth-modes.md#overview). */
export const authModes = [
  'OAUTH1',
  'OAUTH2',
  'OAUTH2_CC',
  'BASIC',
  'API_KEY',
  'APP_STORE',
  'CUSTOM',
  'APP',
  'NONE',
  'TBA',
  'JWT',
  'BILL',
  'TWO_STEP',
  'SIGNATURE',
] as const;
export type AuthMode = (typeof authModes)[number];

/** A field of a connection or its credentials (docs/reference/provider-format.md#field-schemas). */
export interface FieldSchema {
  readonly type: 'string';
  readonly title: string;
  readonly description: string;
  readonly pattern?: string;
  readonly format?: 'hostname' | 'uri' | 'uuid' | 'email';
  readonly enum?: readonly string[];
  readonly example?: string;
  readonly default_value?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly optional?: boolean;
  readonly secret?: boolean;
  readonly automated?: boolean;
  readonly hidden?: boolean;
  readonly order?: number;
  /** Asked for, and required, only while another field has this value. */
  readonly visible_when?: { readonly field: string; readonly equals: string };
}

/** How a provider's tokens are signed by this service (docs/reference/auth-modes.md#jwt). */
export interface SigningRules {
  readonly protocol: 'RSA' | 'EC' | 'HMAC' | 'WSSE';
  readonly hmac_secret_encoding?: 'hex' | 'utf8';
}

/** A token to sign; its values are templates. */
export interface TokenTemplate {
  readonly signing_key?: string;
  readonly expires_in_ms: number;
  readonly header?: JsonObject;
  readonly payload?: JsonObject;
}

/** One call of a token exchange of several (docs/reference/auth-modes.md#two_step). */
export interface TokenStep {
  readonly token_url: string;
  readonly token_params?: JsonObject;
  readonly token_headers?: Readonly<Record<string, string>>;
  readonly token_request_method?: 'GET' | 'POST';
}

/** Dotted paths in the response of the last call. */
export interface TokenResponsePaths {
  readonly token: string;
  readonly token_expiration?: string;
  readonly token_expiration_strategy?: 'expireAt' | 'expireIn';
  readonly refresh_token?: string;
}

export interface PaginateDefinition {
  readonly type?: 'cursor' | 'link' | 'offset';
  readonly cursor_path_in_response?: string;
  readonly cursor_name_in_request?: string;
  readonly link_rel_in_response_header?: string;
  readonly link_path_in_response_body?: string;
  readonly offset_name_in_request?: string;
  readonly offset_start_value?: number;
  readonly offset_calculation_method?: 'by-response-size' | 'per-page';
  readonly limit_name_in_request?: string;
  readonly limit?: number;
  readonly response_path?: string;
  readonly in_body?: boolean;
}

export interface RetryDefinition {
  readonly after?: readonly string[];
  readonly at?: readonly string[];
  /** Statuses: `403`, `5xx`, `500-502`. Replaces the default 401, 429, 5xx. */
  readonly error_code?: readonly string[];
  readonly remaining?: string;
  readonly in_body?: {
    readonly path: string;
    readonly value?: string;
    readonly strategy: 'after' | 'at';
  };
}

export interface ProxyDefinition {
  readonly base_url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly decompress?: boolean;
  readonly forward_headers_on_redirect?: boolean;
  readonly connection_config?: Readonly<Record<string, string>>;
  readonly paginate?: PaginateDefinition;
  readonly retry?: RetryDefinition;
  readonly verification?: {
    readonly method?: 'GET' | 'POST';
    readonly endpoints: readonly string[];
    readonly headers?: Readonly<Record<string, string>>;
    readonly data?: unknown;
    readonly base_url_override?: string;
  };
}

/** One entry of the catalog with its name (docs/reference/provider-format.md#top-level-fields). */
export interface Provider {
  readonly name: string;
  readonly display_name: string;
  readonly categories: readonly string[];
  readonly auth_mode: AuthMode;
  readonly docs: string;
  readonly request_url?: string;
  readonly request_params?: JsonObject;
  readonly signature_method?: 'HMAC-SHA1' | 'PLAINTEXT';
  readonly authorization_url?: string;
  readonly authorization_params?: JsonObject;
  readonly authorization_url_replacements?: Readonly<Record<string, string>>;
  readonly authorization_url_skip_empty?: boolean;
  readonly authorization_url_skip_encode?: readonly string[];
  readonly authorization_url_fragment?: string;
  readonly authorization_code_param_in_callback?: string;
  readonly authorization_issuer?: string;
  readonly redirect_uri_metadata?: readonly string[];
  readonly disable_pkce?: boolean;
  readonly default_scopes?: readonly string[];
  readonly scope_separator?: string;
  readonly installation?: 'outbound';
  /** Two for the mode CUSTOM: the user's half and the app's half. */
  readonly token_url?: string | { readonly OAUTH2: string; readonly APP: string };
  readonly token_url_skip_encode?: readonly string[];
  readonly token_params?: JsonObject;
  readonly token_headers?: Readonly<Record<string, string>>;
  readonly token_request_auth_method?: 'basic' | 'custom' | 'private_key_jwt';
  readonly authorization_method?: 'header' | 'body';
  readonly token_request_method?: 'GET' | 'POST';
  readonly body_format?: 'json' | 'form' | 'query' | 'xml';
  readonly token_response?: TokenResponsePaths;
  readonly token_response_metadata?: readonly string[];
  readonly token_response_headers?: readonly string[];
  readonly alternate_access_token_response_path?: string;
  /** Milliseconds; 0 = the token does not expire. */
  readonly token_expires_in_ms?: number;
  readonly expires_in_unit?: 'seconds' | 'milliseconds';
  readonly require_client_certificate?: boolean;
  readonly additional_steps?: readonly TokenStep[];
  readonly signature?: SigningRules;
  readonly token?: TokenTemplate;
  readonly introspection_url?: string;
  readonly refresh_params?: JsonObject;
  readonly refresh_url?: string;
  readonly refresh_token_params?: JsonObject;
  readonly refresh_token_headers?: Readonly<Record<string, string>>;
  readonly refresh_token_response_metadata?: readonly string[];
  readonly connection_configuration?: readonly string[];
  readonly connection_config?: Readonly<Record<string, FieldSchema>>;
  readonly credentials?: Readonly<Record<string, FieldSchema>>;
  readonly integration_config?: Readonly<Record<string, FieldSchema>>;
  readonly post_connection_script?: string;
  readonly webhook_routing_script?: string;
  /** How its webhooks are verified and attributed; without it they are refused. */
  readonly webhook_routing?: WebhookRules;
  readonly token_expiration_buffer?: number;
  readonly proxy?: ProxyDefinition;
}
