import type { z } from 'zod';
import type { FetchOptions, ProxyConfiguration, ProxyResponse } from './http.ts';
import type { Connection, Credentials, Integration, SvcMetadata } from './resources.ts';
import type {
  CheckpointSchema,
  MetadataOf,
  MetadataSchema,
  Models,
  Schema,
  SchemaWith,
} from './schemas.ts';

type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** Thrown to give the caller of an action a payload; text and lists are wrapped as `{ message }`. */
export interface ActionError<T = unknown> extends Error {
  readonly type: string;
  readonly payload: T extends readonly unknown[] | string ? { message: T } : T;
}

interface Http {
  get<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  post<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  put<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  patch<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  delete<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  /** With the method of the configuration; default GET. */
  proxy<T = unknown>(config: ProxyConfiguration): Promise<ProxyResponse<KnownOrAny<T>>>;
  /** Pages of rows, until the provider has no more. Leaving the loop stops the requests. */
  paginate<T = unknown>(config: ProxyConfiguration): AsyncGenerator<KnownOrAny<T>[], undefined>;
  /** Plain fetch: no credentials, no retries. A refused address is an ActionError `url_not_allowed`. */
  uncontrolledFetch(options: FetchOptions): Promise<Response>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- data that the caller did not type
type KnownOrAny<T> = unknown extends T ? any : T;

interface BaseHandle<Meta extends MetadataSchema, C extends CheckpointSchema> extends Http {
  /** Id that the application gave the connection. */
  readonly connectionId: string;
  /** Key of the integration. */
  readonly providerConfigKey: string;
  readonly provider: string;
  readonly environmentName: string;
  readonly environmentId: number;
  /** `base` unless the sync has variants. */
  readonly variant: string;
  /** @deprecated Use checkpoints. Start of the last successful run. */
  readonly lastSyncDate?: Date;

  /** `new svc.ActionError(payload)`: when thrown, the caller receives its payload. */
  readonly ActionError: new <T = unknown>(payload?: T) => ActionError<T>;

  /** A last argument with `level` holds the options; default level `info`. Never fails the run. */
  log(...args: [...unknown[], { level: LogLevel }] | unknown[]): Promise<void>;
  /** Minimum level of retained lines, from now on. A logger that is off stays off. */
  setLogger(options: { level: LogLevel | 'off' }): void;

  getConnection(
    providerConfigKey?: string,
    connectionId?: string,
    options?: { forceRefresh?: boolean; refreshToken?: boolean },
  ): Promise<Connection<MetadataOf<Meta>>>;
  getIntegration(options?: { include?: ('webhook' | 'credentials')[] }): Promise<Integration>;
  /** `{}` when there is none. */
  getMetadata<T = MetadataOf<Meta>>(): Promise<T>;
  /** Replaces all of it. */
  setMetadata(metadata: MetadataOf<Meta>): Promise<void>;
  /** Replaces the given top-level keys. */
  updateMetadata(metadata: Partial<MetadataOf<Meta>>): Promise<void>;
  /** OAuth 2, also of MCP servers: the access token; OAuth 1: token and secret; otherwise the credentials. */
  getToken(): Promise<string | { oAuthToken: string; oAuthTokenSecret: string } | Credentials>;
  getRawTokenResponse<T = Record<string, unknown>>(): Promise<T>;
  getWebhookURL(): Promise<string | null>;
  getEnvironmentVariables(): Promise<{ name: string; value: string }[] | null>;

  /** Null on the first run and after a reset. */
  getCheckpoint(): Promise<z.infer<C> | null>;
  getCheckpoint<T>(): Promise<T | null>;
  // Repeated, because `ReturnType` uses the last overload.
  getCheckpoint(): Promise<z.infer<C> | null>;
  /**
   * Replaces the whole checkpoint. Rejects values that are not flat, and a save after another run has saved in the
   * meantime.
   */
  saveCheckpoint(checkpoint: z.infer<C>): Promise<void>;
  clearCheckpoint(): Promise<void>;

  /** Runs an action of the same integration and connection; resolves with its output. */
  triggerAction<O = unknown>(name: string, input?: unknown): Promise<O>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name the type of the input
  triggerAction<I, O>(name: string, input?: I): Promise<O>;
  triggerAction<O = unknown>(
    providerConfigKey: string,
    connectionId: string,
    name: string,
    input?: unknown,
  ): Promise<O>;
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- callers name the type of the input
  triggerAction<I, O>(
    providerConfigKey: string,
    connectionId: string,
    name: string,
    input?: I,
  ): Promise<O>;
  triggerSync(
    providerConfigKey: string,
    connectionId: string,
    sync: string | { name: string; variant?: string },
    options?: Record<string, unknown>,
  ): Promise<void>;
  startSync(
    providerConfigKey: string,
    names: string | string[],
    connectionId?: string,
  ): Promise<void>;

  /** @throws ActionError `Invalid input provided`, after one log line per issue */
  zodValidateInput<S extends Schema>(options: {
    zodSchema: S;
    input: unknown;
  }): Promise<{ success: true; data: z.infer<S> }>;
  zodValidateInput<T = never>(options: {
    zodSchema: SchemaWith<NoInfer<T>>;
    input: unknown;
  }): Promise<{ success: true; data: T }>;

  /** False while another run holds it. Released when this run ends. */
  tryAcquireLock(options: { key: string; ttlMs: number }): Promise<boolean>;
  releaseLock(options: { key: string }): Promise<boolean>;
  releaseAllLocks(): Promise<void>;
}

/** The handle of actions and on-event functions. */
export type SvcAction<
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> = BaseHandle<Meta, C>;

/** A record whose type the caller names; without it, nothing fits. */
type NamedRecord<T> = NoInfer<T> & { id: string };
type PartialNamed<T> = Partial<NoInfer<T>> & { id: string };

type Row<M extends Models, N extends keyof M> = z.infer<M[N]>;
type PartialRow<M extends Models, N extends keyof M> = { id: string } & Partial<Row<M, N>>;

/** The handle of syncs and their webhooks. */
export interface SvcSync<
  M extends Models = Models,
  Meta extends MetadataSchema = MetadataSchema,
  C extends CheckpointSchema = CheckpointSchema,
> extends BaseHandle<Meta, C> {
  /** Adds new records and replaces known ones; an unchanged one is only marked as seen. */
  batchSave<N extends keyof M & string>(records: Row<M, N>[], model: N): Promise<true>;
  batchSave<T = never>(records: NamedRecord<T>[], model: keyof M & string): Promise<true>;
  /** Merges deeply into known records; lists are replaced, unknown ids ignored. */
  batchUpdate<N extends keyof M & string>(records: PartialRow<M, N>[], model: N): Promise<true>;
  batchUpdate<T = never>(records: PartialNamed<T>[], model: keyof M & string): Promise<true>;
  /** Marks records as deleted; only `id` is used. */
  batchDelete<N extends keyof M & string>(records: PartialRow<M, N>[], model: N): Promise<true>;
  batchDelete<T = never>(records: PartialNamed<T>[], model: keyof M & string): Promise<true>;
  /** Call before fetching the complete data of a model. A pass left open by a failed run continues. */
  trackDeletesStart(model: keyof M & string): Promise<void>;
  /** Call after saving all of it: deletes records that existed at the start and were not saved since. */
  trackDeletesEnd(model: keyof M & string): Promise<{ deletedKeys: string[] }>;
  /** @deprecated Use `trackDeletesStart` and `trackDeletesEnd`. */
  deleteRecordsFromPreviousExecutions(model: keyof M & string): Promise<{ deletedKeys: string[] }>;
  /** Keyed by the requested ids; unknown ones are absent. */
  getRecordsById<N extends keyof M & string, Id extends string | number | bigint = string>(
    ids: readonly Id[],
    model: N,
  ): Promise<Map<Id, Row<M, N>>>;
  getRecordsById<Id extends string | number | bigint, T>(
    ids: readonly Id[],
    model: keyof M & string,
  ): Promise<Map<Id, T>>;
  getRecordsByIds<N extends keyof M & string, Id extends string | number | bigint = string>(
    ids: readonly Id[],
    model: N,
  ): Promise<Map<Id, Row<M, N>>>;
  getRecordsByIds<Id extends string | number | bigint, T>(
    ids: readonly Id[],
    model: keyof M & string,
  ): Promise<Map<Id, T>>;
  /** Every record, deleted ones too, in the order of modification. */
  listRecords<N extends keyof M & string>(
    model: N,
    options?: { cursor?: string },
  ): AsyncGenerator<Row<M, N> & { _svc_metadata: SvcMetadata }>;
  listRecords<T>(
    model: keyof M & string,
    options?: { cursor?: string },
  ): AsyncGenerator<T & { _svc_metadata: SvcMetadata }>;
  /** Call before the first request and the first save of the run. */
  setMergingStrategy(
    options: { strategy: 'override' | 'ignore_if_modified_after' },
    model: keyof M & string,
  ): Promise<void>;
}
