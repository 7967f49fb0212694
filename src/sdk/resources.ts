/** A connection as `svc.getConnection` gives it (specification section 2.3). */
export interface Connection<Meta = Record<string, unknown>> {
  id: number;
  connection_id: string;
  provider_config_key: string;
  provider: string;
  errors: { type: string; log_id: string }[];
  metadata: Meta;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its fields are the provider's
  connection_config: Record<string, any>;
  tags: Record<string, string>;
  created_at: string;
  updated_at: string;
  last_fetched_at: string;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- its fields depend on the authentication mode
  credentials: { type: string } & Record<string, any>;
}

/** An integration as `svc.getIntegration` gives it. */
export interface Integration {
  unique_key: string;
  display_name: string;
  provider: string;
  logo: string;
  created_at: string;
  updated_at: string;
  /** With `include: ['webhook']`. */
  webhook_url?: string | null;
  /** With `include: ['credentials']`. */
  credentials?: Record<string, unknown> | null;
}

/** What the cache knows of a record. */
export interface SvcMetadata {
  deleted_at: string | null;
  last_action: 'ADDED' | 'UPDATED' | 'DELETED';
  first_seen_at: string;
  last_modified_at: string;
  cursor: string;
  pruned_at?: string | null;
}
