import type { z } from 'zod';
import type { SvcAction, SvcSync } from './handle.ts';
import type { CheckpointSchema, MetadataSchema, Models, RowSchema, Schema } from './schemas.ts';

type MaybePromise<T> = T | Promise<T>;

interface Endpoint {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  group?: string;
}

interface CommonDefinition<Meta extends MetadataSchema, C extends CheckpointSchema> {
  /** What the function is for; shown to people. */
  description: string;
  /** Label shown to people. */
  version?: string;
  /** Shape of the connection's metadata. */
  metadata?: Meta;
  /** Shape of the value of `saveCheckpoint`: flat strings, numbers, booleans. */
  checkpoint?: C;
}

export interface SyncDefinition<
  M extends Models,
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> extends CommonDefinition<Meta, C> {
  /** Called at each run; the return value is ignored. */
  exec: (svc: SvcSync<M, Meta, C>) => MaybePromise<void>;
  /** `every <n> <unit>` or `every <unit>`, at least 30 seconds. */
  frequency: string;
  /** The models that the sync saves. */
  models: M;
  /** Start the schedule when a connection is created. Default false. */
  autoStart?: boolean;
  /** Called for a webhook of the provider; `payload` is its parsed body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the provider's body
  onWebhook?: (svc: SvcSync<M, Meta, C>, payload: any) => MaybePromise<unknown>;
  /** Types of webhooks that `onWebhook` handles; `*` = all. */
  webhookSubscriptions?: string[];
  /** Scopes that the provider must have granted; documentation only. */
  scopes?: string[];
  /** @deprecated Use `trackDeletesStart` and `trackDeletesEnd`. */
  trackDeletes?: boolean;
  /** @deprecated Use checkpoints. */
  syncType?: 'full' | 'incremental';
  /** @deprecated Records are read by model. */
  endpoints?: Endpoint[];
}

export interface ActionDefinition<
  I extends Schema,
  O extends Schema,
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> extends CommonDefinition<Meta, C> {
  /** Called for each trigger; returns the output. */
  exec: (svc: SvcAction<Meta, C>, input: z.infer<I>) => MaybePromise<z.infer<O>>;
  /** `z.void()` = no input. */
  input: I;
  output: O;
  /** Scopes that the provider must have granted; documentation only. */
  scopes?: string[];
  /** @deprecated Actions are triggered by name. */
  endpoint?: Endpoint;
}

export interface OnEventDefinition<
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> extends CommonDefinition<Meta, C> {
  /**
   * `post-connection-creation`: after a connection is stored. `validate-connection`: before success is
   * reported; a throw refuses the connection. `pre-connection-deletion`: a throw blocks the deletion.
   */
  event: 'post-connection-creation' | 'pre-connection-deletion' | 'validate-connection';
  /** The return value is ignored. */
  exec: (svc: SvcAction<Meta, C>) => MaybePromise<unknown>;
}

/** A change of a record of the connection, as GET /changes shows it. */
export interface RecordChange {
  /** The same wherever the change comes again; null where the log has only the mark of a purge. */
  id: string | null;
  /** Where the log has it: a parked change is named by it. */
  place: string;
  action: 'added' | 'updated' | 'deleted' | 'pruned' | 'restored' | 'purged';
  /** ISO 8601 with microseconds. */
  at: string | null;
  connection_uid: string;
  model: string;
  variant: string;
  record_id: string;
  /** Number of the change among those of its connection, model and variant. */
  seq: number | null;
  /** Number of the change in the life of the record. */
  version: number | null;
  run_id: string | null;
  sync: string | null;
  first_seen_at: string | null;
  last_modified_at: string | null;
  deleted_at: string | null;
  pruned_at: string | null;
  /** The whole record after the change; null when it was pruned or purged. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the record of any model
  record: Record<string, any> | null;
}

export interface OnChangeDefinition<
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> extends CommonDefinition<Meta, C> {
  /** Names of models that syncs of the integration save. */
  models: string[];
  /** Where it begins when it is deployed first: with every record, or with what changes from then on (default). */
  from?: 'start' | 'end';
  /** Changes of one run, at most 1,000. Default 100. */
  batchSize?: number;
  /** Further runs after a failed one, before a change is parked; up to 20. Default 4. */
  retries?: number;
  /**
   * Called with changes of one connection, those of a record in their order. A throw fails the run: all of its changes
   * come again. The return value is ignored.
   */
  exec: (svc: SvcAction<Meta, C>, changes: RecordChange[]) => MaybePromise<unknown>;
}

/** The record after a change: `map` gets one for each record that exists. */
export interface ProjectedChange {
  action: 'added' | 'updated';
  /** Unique key of the integration. */
  integration: string;
  connection_id: string;
  model: string;
  /** Variant of the sync; `base` for all others. */
  variant: string;
  record_id: string;
  /** ISO 8601 with microseconds. */
  first_seen_at: string;
  /** ISO 8601 with microseconds. */
  last_modified_at: string;
  /** The record as the function saved it. */
  // oxlint-disable-next-line typescript/no-explicit-any -- records of several models and integrations
  record: any;
}

export interface ProjectionDefinition<R extends RowSchema> {
  /** What the table is for; shown to people. */
  description: string;
  /** Label shown to people. */
  version?: string;
  from: {
    /** Names of models. */
    models: string[];
    /** Unique keys of integrations; default: all. */
    integrations?: string[];
  };
  /**
   * Columns with their types: strings, numbers, booleans, dates, enums of strings, and lists of strings, numbers or
   * booleans; each may be nullable.
   */
  row: R;
  /** Columns that are unique together: of rows with the same values, that of the record changed last is shown. */
  key?: (keyof z.infer<R> & string)[];
  /**
   * The rows of a record. Synchronous and pure: it is called again over the whole history when it changes. The rows of a
   * record are replaced when it changes, and removed when it is deleted.
   */
  map: (change: ProjectedChange) => z.infer<R> | z.infer<R>[] | null;
}
