import { GatewayError } from '#kernel/errors.ts';
import { isoMicros, type Micros } from '#kernel/time.ts';
import type { RecordChange } from '../model/events.ts';
import type { Stream } from '../model/stream.ts';
import { requireModel } from '../read/declared-models.ts';
import type { DeclaredModels } from '../services.ts';
import { cursorOf, type HistoryDeps } from './as-of.ts';
import { changesOf, historyTable, takenOf, type ChangeRow } from './history-queries.ts';
import { changesByOffset, payloadsOf, untilShown, type PayloadOf } from './logged-changes.ts';

/**
 * State of a change's payload: `kept`; `none` where the change itself removed it or has none; `pruned` since;
 * `compacted`: its message has left the log; `unreadable`: its key was destroyed.
 */
export type PayloadState = 'kept' | 'none' | 'pruned' | 'compacted' | 'unreadable';

export interface HistoryQuery {
  readonly stream: Stream;
  readonly recordId: string;
  readonly cursor: string | null;
  readonly limit: number;
}

/**
 * The changes of one record, newest first, as JSON text. Writer and payload come from the log.
 * @throws GatewayError `not_found`, `invalid_cursor_value`, `invalid_query_params` (the model),
 *   `projection_unavailable`, `log_unavailable`
 */
export async function historyOf(
  deps: HistoryDeps & { readonly declaredModels: DeclaredModels },
  query: HistoryQuery,
): Promise<Uint8Array> {
  const { recordId, limit } = query;
  const before = query.cursor === null ? null : parseCursor(query.cursor);
  const table = historyTable(deps, query.stream);
  await untilShown(deps, table.partition);
  const taken = await takenOf(deps, table, recordId);
  const found = await changesOf(deps, table, recordId, { before, limit: limit + 1 });
  const rows = found.filter(({ version }) => Number(version) > taken.purged);
  if (rows.length === 0) await requireModel(deps, query.stream);
  if (rows.length === 0 && before === null) {
    throw new GatewayError('not_found', { message: `The record "${recordId}" does not exist.` });
  }
  const page = rows.slice(0, limit);
  const offsets = page.map(({ log_offset: offset }) => Number(offset));
  const changes = await changesByOffset(deps, table.partition, offsets);
  const payloadOf = payloadsOf(deps, table.key);
  const parts: string[] = [];
  for (const row of page) {
    const change = changes.get(Number(row.log_offset));
    if (change === undefined) parts.push(compacted(row));
    else parts.push(await shown(payloadOf, change, taken.pruned));
  }
  const last = rows.length > limit ? page.at(-1) : undefined;
  const next = last === undefined ? null : textOfCursor(Number(last.version));
  const earlier = next === null ? earlierChanges(page, changes) : null;
  const tail = `"next_cursor":${JSON.stringify(next)},"earlier_changes":${earlier}`;
  return Buffer.from(`{"id":${JSON.stringify(recordId)},"changes":[${parts.join(',')}],${tail}}`);
}

async function shown(payloadOf: PayloadOf, change: RecordChange, pruned: number): Promise<string> {
  const isPruned = change.stream_seq < pruned;
  const payload = isPruned ? null : await payloadOf(change);
  const state = (): PayloadState => {
    if (payload !== null) return 'kept';
    if (change.payload === null) return 'none';
    return isPruned ? 'pruned' : 'unreadable';
  };
  const facts = {
    action: change.action,
    at: isoMicros(change.occurred_at),
    version: change.version,
    cursor: cursorOf(change),
    actor: change.actor,
    run_id: change.run_id,
    sync: change.sync_name,
    first_seen_at: isoMicros(change.first_seen_at),
    last_modified_at: isoMicros(change.last_modified_at),
    deleted_at: time(change.deleted_at),
    pruned_at: time(change.pruned_at),
    payload_state: state(),
  };
  // The payload's text is inserted unparsed: parsing would round large numbers.
  const text = payload === null ? 'null' : payload.toString();
  return `${JSON.stringify(facts).slice(0, -1)},"payload":${text}}`;
}

const time = (at: Micros | null): string | null =>
  at === null ? null : isoMicros(Math.max(0, at));

/** The fields of a change that the table still has and the log does not. */
function compacted({ last_action: action, is_pruned: isPruned, at }: ChangeRow): string {
  return JSON.stringify({
    action: isPruned === 1 ? 'pruned' : action.toLowerCase(),
    at: isoMicros(Number(at)),
    version: null,
    cursor: null,
    actor: null,
    run_id: null,
    sync: null,
    first_seen_at: null,
    last_modified_at: isoMicros(Number(at)),
    deleted_at: null,
    pruned_at: null,
    payload_state: 'compacted' satisfies PayloadState,
    payload: null,
  });
}

/** Number of changes before the oldest one shown; null when unknown. */
function earlierChanges(
  page: readonly ChangeRow[],
  changes: ReadonlyMap<number, RecordChange>,
): number | null {
  for (const [at, { log_offset: offset }] of [...page].reverse().entries()) {
    const change = changes.get(Number(offset));
    if (change !== undefined) return Math.max(0, change.version - 1 - at);
  }
  return null;
}

const textOfCursor = (version: number): string =>
  Buffer.from(String(version)).toString('base64url');

/** @throws GatewayError `invalid_cursor_value` */
function parseCursor(text: string): number {
  const version = Buffer.from(text, 'base64url').toString();
  if (/^[1-9]\d{0,14}$/.test(version)) return Number(version);
  throw new GatewayError('invalid_cursor_value');
}
