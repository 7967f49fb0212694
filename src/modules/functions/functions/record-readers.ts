/** Who reads records of a model, by name: as far as this gateway knows. */
export interface RecordReaders {
  /** API keys with the scope `environment:records:read`. */
  readonly api_keys: readonly string[];
  /** Endpoints that are sent the webhooks of syncs. */
  readonly webhook_endpoints: readonly string[];
  readonly typed_topics: readonly string[];
}

export type FindRecordReaders = (
  environmentUid: string,
  integrationKey: string,
  model: string,
) => RecordReaders;
