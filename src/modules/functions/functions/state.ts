import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { FunctionType } from '#ports/sandbox.ts';

export type FunctionKind = 'sync' | 'action' | 'on-event';

/** The `type` in the definition of a function of the kind. */
export const functionTypeOf = (kind: FunctionKind): FunctionType =>
  kind === 'on-event' ? 'onEvent' : kind;

/** Scope = environment uid; path [environment uid, integration key, kind, name]. */
export interface DeployedFunction {
  readonly id: number;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly kind: FunctionKind;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly isEnabled: boolean;
  /** CommonJS bundle that the sandbox evaluates. */
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
  /** SHA-256 of everything below and the bundle: unchanged = no-op on deploy. */
  readonly contentHash: string;
  readonly models: readonly string[];
  readonly jsonSchema: JsonObject;
  readonly inputModel: string | null;
  readonly scopes: readonly string[];
  readonly features: readonly string[];
  // syncs
  readonly frequency: string | null;
  readonly autoStart: boolean;
  readonly trackDeletes: boolean;
  readonly syncType: 'full' | 'incremental';
  readonly webhookSubscriptions: readonly string[];
  // on-event
  readonly event: string | null;
  /** Deployed from source and not part of a project. Absent: part of a project. */
  readonly isStandalone?: true;
  readonly deployedAt: Instant;
}
