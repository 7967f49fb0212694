import type { Json, JsonObject } from '../../kernel/stable-json.ts';
import type { LogLevel, RunFailure, Sandbox } from '../../ports/sandbox.ts';
import type { ApiClient } from '../client.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import type { DryConnections } from './connections.ts';
import type { Journal } from './journal.ts';
import type { Violation } from './schema.ts';

/** What all runs of one dry run share. */
export interface DryRunSession {
  readonly client: ApiClient;
  /** Base URL of the service. */
  readonly host: string;
  readonly sandbox: Sandbox;
  readonly environment: string;
  /** Everything that the project compiles to: functions may set off one another. */
  readonly functions: readonly CompiledFunction[];
  readonly connections: DryConnections;
  readonly journal: Journal;
  /** Told what the run wants a person to know, beside what the function logs. */
  readonly say: (level: LogLevel, message: string) => void;
  /** Whether a schema violation ends the run. */
  readonly isValidated: boolean;
  readonly signal: AbortSignal;
}

/** What a run is given in place of what the service would have. */
export interface Stubs {
  readonly metadata: JsonObject | null;
  readonly checkpoint: JsonObject | null;
  /** ISO 8601; null = none. */
  readonly lastSyncDate: string | null;
  readonly variant: string;
}

export interface DryRunRequest {
  readonly fn: CompiledFunction;
  readonly connectionId: string;
  /** Of an action; undefined = none. */
  readonly input: Json | undefined;
  readonly stubs: Stubs;
  /** How many functions set off one another down to this one. */
  readonly depth: number;
}

export interface DryRunResult {
  readonly output: Json | undefined;
  readonly failure: RunFailure | null;
  /** What was not as its schema says, where that ends a run. */
  readonly violation: Violation | null;
}
