import type { Client } from '#client/index.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import type { LogLevel, Sandbox } from '#ports/sandbox.ts';
import type { CompiledFunction } from '../compiler/compile.ts';
import type { DryConnections } from './connections.ts';
import type { Journal } from './journal.ts';
import type { FunctionEnd } from './run-function.ts';
import type { Violation } from './schema.ts';

/** Shared by all runs of one dry run. */
export interface DryRunSession {
  readonly client: Client;
  readonly sandbox: Sandbox;
  readonly environment: string;
  /** All compiled functions of the project: functions may trigger one another. */
  readonly functions: readonly CompiledFunction[];
  readonly connections: DryConnections;
  readonly journal: Journal;
  /** Receives messages for the user, besides the function's own log. */
  readonly say: (level: LogLevel, message: string) => void;
  /** Whether a schema violation ends the run. */
  readonly isValidated: boolean;
  /** Whether an input that does not fit ends it. */
  readonly isInputValidated: boolean;
  readonly signal: AbortSignal;
}

/** Replacements for data of the service. */
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
  /** Nesting depth of triggered functions. */
  readonly depth: number;
}

export interface DryRunResult extends FunctionEnd {
  /** The schema violation that ended the run. */
  readonly violation: Violation | null;
}
