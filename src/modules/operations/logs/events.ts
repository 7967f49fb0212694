import type { PublicFields } from '../../../kernel/public-fields.ts';
import type { Micros } from '../../../kernel/time.ts';

/**
 * A value of `svc.logs.v1`.
 * @see schemas/runs/log-entry.v1.avsc
 */
export interface LogEntry extends PublicFields {
  readonly operation_id: string;
  /** debug, info, warn or error. */
  readonly level: string;
  readonly message: string;
  /** Set on the entries that begin and end an operation, for example `sync:run`. */
  readonly operation_type: string | null;
  readonly state: string | null;
  /** Start of the operation; set together with `operation_type`. */
  readonly started_at: Micros | null;
  /** Name of the function that the operation runs. */
  readonly function: string | null;
  /** `user` or `internal`. */
  readonly source: string | null;
  /** JSON. */
  readonly context: string | null;
}
