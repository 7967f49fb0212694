import type { JsonObject } from '#kernel/stable-json.ts';
import type { CalledKind } from '../actions/state.ts';

/** Scope = that of the connection; path [...connection path, kind of run, function]. */
export interface Checkpoint {
  readonly connectionUid: string;
  readonly kind: CalledKind;
  readonly functionName: string;
  /** Null when deleted: the version continues. */
  readonly value: JsonObject | null;
  /** Grows with each write. */
  readonly version: number;
}
