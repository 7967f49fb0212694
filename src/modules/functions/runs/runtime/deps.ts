import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import type { OpenedConnection, OpenedIntegration } from '#modules/connections/providers/inject.ts';
import type { SharedLimit } from '#modules/connections/rate-limits/limit-of-call.ts';
import type { RecordReader } from '#modules/records/read/reader.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { FunctionType, LogLine } from '#ports/sandbox.ts';
import type { Timeline } from '../ledger/timeline.ts';
import type { RunTimeBudget } from './run-time-budget.ts';

/** The identity and scope of a run; the only source of names: arguments never extend it. */
export interface RunScope {
  readonly runId: string;
  readonly attempt: number;
  /** `run:<id>`, for events. */
  readonly actor: string;
  readonly type: FunctionType;
  readonly functionName: string;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly connectionUid: string;
  readonly variant: string;
  /** Models that a sync declares. */
  readonly models: readonly string[];
  /** How many actions called one another down to this run; 0 = called from outside. */
  readonly depth: number;
}

export interface ConnectionName {
  readonly integrationKey: string;
  readonly connectionId: string;
}

/** A connection, prepared for a call to its provider. */
export interface RunConnection {
  readonly provider: Provider;
  /** Version of the credentials: another one means that others were stored. */
  readonly version: number;
  readonly connection: OpenedConnection;
  readonly integration: OpenedIntegration;
  /** Null without a limit of the provider that calls share. */
  readonly limit: SharedLimit | null;
  /** In the format of the API, with credentials (docs/reference/http.md#connections). */
  readonly view: () => Promise<JsonObject>;
}

/** The connections of the run's environment. */
export interface RunConnections {
  /**
   * The current connection; an expired token is refreshed first.
   * @throws GatewayError `unknown_connection`, `unknown_provider_config`, `invalid_credentials`
   */
  open(
    name: ConnectionName,
    options: {
      readonly forceRefresh: boolean;
      readonly refreshToken: boolean;
      /** The version for which the provider returned 401: it is refreshed first. */
      readonly rejectedVersion?: number;
    },
  ): Promise<RunConnection>;
  /** The integration of the run in the format of the API. */
  integration(include: readonly string[]): Promise<JsonObject>;
  /** Of the run's connection. @throws GatewayError `invalid_body` when it is too large */
  setMetadata(metadata: JsonObject): Promise<void>;
  updateMetadata(metadata: JsonObject): Promise<void>;
}

/** Of the run's connection, function and variant. */
export interface RunCheckpoint {
  get(): Promise<JsonObject | null>;
  /** @throws GatewayError `checkpoint_conflict` */
  save(checkpoint: JsonObject): Promise<void>;
  clear(): Promise<void>;
}

/** One request to a provider, for the run's log: without query, headers and bodies, which may contain secrets. */
export interface HttpLine {
  readonly method: string;
  readonly url: string;
  /** Null without a response. */
  readonly status: number | null;
  /** The error without a response. */
  readonly code: string | null;
  readonly durationMs: number;
  /** From 1. */
  readonly attempt: number;
}

/** Receives the run's log; must not throw. */
export interface RunLog {
  lines(lines: readonly LogLine[]): void;
  http(line: HttpLine): void;
  /** A request waits for the shared limit of the provider; once for each request. */
  waits(shared: SharedLimit, ms: number): void;
}

export interface ActionCall extends ConnectionName {
  readonly name: string;
  readonly input: Json | undefined;
  readonly depth: number;
}

export interface SyncCalls {
  trigger(
    target: ConnectionName & { readonly name: string; readonly variant: string | null },
    options: JsonObject,
  ): Promise<void>;
  start(
    run: { readonly integrationKey: string; readonly connectionId: string | null },
    names: readonly string[],
  ): Promise<void>;
}

/** The services of the host side of one run. */
export interface RuntimeDeps {
  readonly run: RunScope;
  readonly connections: RunConnections;
  readonly checkpoint: RunCheckpoint;
  readonly records: { readonly writer: RecordWriter; readonly reader: RecordReader };
  /** @throws GatewayError as the trigger API */
  readonly triggerAction: (call: ActionCall, signal: AbortSignal) => Promise<Json | undefined>;
  readonly syncs: SyncCalls;
  readonly variables: () => Promise<
    readonly { readonly name: string; readonly value: string }[] | null
  >;
  readonly http: HttpClient;
  readonly coordination: Coordination;
  readonly log: RunLog;
  readonly timeline: Timeline;
  /** Of a sync: the models to whose streams its code has sent a command. */
  readonly usedModels?: Set<string>;
  /** Of a sync: its time budget. */
  readonly budget?: RunTimeBudget;
  readonly clock: Clock;
  /** Aborted when the run is cancelled or its time is over. */
  readonly signal: AbortSignal;
  /** Rejects when the signal aborts. Real time when absent. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
}
