import type { z } from 'zod';
import type { SvcAction, SvcSync } from './handle.ts';
import type { CheckpointSchema, MetadataSchema, Models, Schema } from './schemas.ts';

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
