import type {
  Connection as ApiConnection,
  Integration as ApiIntegration,
} from '../client/operations.ts';

/** Fields of the API, of which some get another type. */
type Fields<Resource, Own extends keyof Resource> = {
  -readonly [Name in Exclude<keyof Resource, Own>]: Resource[Name];
};

/** A connection as `svc.getConnection` returns it (docs/reference/http.md#connections). */
export interface Connection<Meta = Record<string, unknown>> extends Fields<
  ApiConnection,
  'errors' | 'metadata' | 'connection_config' | 'tags' | 'credentials'
> {
  errors: { type: string; log_id: string }[];
  metadata: Meta;
  // oxlint-disable-next-line typescript/no-explicit-any -- its fields are the provider's
  connection_config: Record<string, any>;
  tags: Record<string, string>;
  credentials: Credentials;
}

/* oxlint-disable typescript/no-explicit-any --
   what there is, and of which type, depends on the authentication mode and the provider */

/** Credentials of a connection; `type` is the authentication mode. */
export interface Credentials {
  type: string;
  username?: any;
  password?: any;
  apiKey?: any;
  access_token?: any;
  refresh_token?: any;
  token?: any;
  expires_at?: any;
  oauth_token?: any;
  oauth_token_secret?: any;
  token_id?: any;
  token_secret?: any;
  config_override?: any;
  client_id?: any;
  client_secret?: any;
  client_certificate?: any;
  client_private_key?: any;
  privateKeyId?: any;
  issuerId?: any;
  privateKey?: any;
  scope?: any;
  app?: any;
  user?: any;
  organization_id?: any;
  dev_key?: any;
  session_id?: any;
  user_id?: any;
  /** The provider's response. */
  raw?: any;
  [field: string]: any;
}

/** Credentials of an integration. */
export interface IntegrationCredentials {
  type: string;
  client_id?: any;
  client_secret?: any;
  scopes?: any;
  webhook_secret?: any;
  app_id?: any;
  app_link?: any;
  private_key?: any;
  [field: string]: any;
}
/* oxlint-enable typescript/no-explicit-any */

/** An integration as `svc.getIntegration` returns it. */
export interface Integration extends Fields<ApiIntegration, 'webhook_url' | 'credentials'> {
  /** With `include: ['webhook']`. */
  webhook_url?: string | null;
  /** With `include: ['credentials']`. */
  credentials?: IntegrationCredentials | null;
}

/** Metadata of a record in the cache. */
export interface SvcMetadata {
  deleted_at: string | null;
  last_action: 'ADDED' | 'UPDATED' | 'DELETED';
  first_seen_at: string;
  last_modified_at: string;
  cursor: string;
  pruned_at?: string | null;
}
