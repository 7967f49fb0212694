/** The authentication modes of the specification (section 2.6). */
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

/** A field that a connection or its credentials need (contract/providers-format.md section 3). */
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

/** One entry of the catalogue with its name; fields as in contract/providers-format.md section 2. */
export interface Provider {
  readonly name: string;
  readonly display_name: string;
  readonly categories: readonly string[];
  readonly auth_mode: AuthMode;
  readonly docs: string;
  readonly authorization_url?: string;
  readonly token_url?: string;
  readonly default_scopes?: readonly string[];
  readonly connection_configuration?: readonly string[];
  readonly connection_config?: Readonly<Record<string, FieldSchema>>;
  readonly credentials?: Readonly<Record<string, FieldSchema>>;
  readonly integration_config?: Readonly<Record<string, FieldSchema>>;
  readonly post_connection_script?: string;
  readonly webhook_routing_script?: string;
  readonly token_expiration_buffer?: number;
  readonly proxy?: ProxyDefinition;
}
