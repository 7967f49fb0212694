import type { Json, JsonObject } from '../kernel/stable-json.ts';
import type { Context } from './context.ts';
import { showRows } from './service-command.ts';

/** @see src/modules/records/shapes.ts */
interface ShownChange {
  readonly action: string;
  readonly at: string;
  readonly version: number | null;
  readonly actor: string | null;
  readonly run_id: string | null;
  readonly payload_state: string;
  readonly payload: JsonObject | null;
}

/** Prints the changes of one record, as a table or as JSON; reports missing ones on stderr. */
export function showHistory(context: Context, answer: Json, isJson: boolean | undefined): void {
  const { output } = context;
  if (isJson === true) {
    output.result(JSON.stringify(answer));
    return;
  }
  // The API guarantees the shape.
  const { changes, next_cursor, earlier_changes } = answer as unknown as {
    readonly changes: readonly ShownChange[];
    readonly next_cursor: string | null;
    readonly earlier_changes: number | null;
  };
  const heads = ['version', 'at', 'action', 'run', 'actor', 'payload'];
  showRows(context, false, changes, heads, (change) => [
    change.version ?? '',
    change.at,
    change.action,
    change.run_id ?? '',
    change.actor ?? '',
    change.payload === null ? `(${change.payload_state})` : JSON.stringify(change.payload),
  ]);
  if (next_cursor !== null) output.note(`There are more: --cursor ${next_cursor}`);
  if (earlier_changes !== null && earlier_changes > 0) {
    output.note(`${earlier_changes} earlier changes have left the log.`);
  }
}
