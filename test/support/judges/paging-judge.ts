import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { RecordAction } from '#modules/records/model/events.ts';

/** A record as a page showed it, its payload apart from its metadata. */
export interface SeenRecord {
  readonly position: number;
  readonly cursor: string;
  readonly payload: Readonly<Record<string, unknown>> & { readonly id?: unknown };
  readonly first_seen_at: string;
  readonly last_modified_at: string;
  readonly last_action: string;
  readonly deleted_at: string | null;
  readonly pruned_at?: string;
}

/** A change as the log has it, its payload opened. */
export interface ToldChange {
  readonly id: string;
  readonly seq: number;
  readonly action: RecordAction;
  readonly position: number;
  readonly firstSeenAt: string;
  readonly modifiedAt: string;
  readonly deletedAt: string | null;
  readonly isPruned: boolean;
  readonly encoding: string;
  readonly payload: JsonObject | null;
}

export interface ToldPaging {
  /** By the reader beside the writers, in the order of reading. */
  readonly seen: readonly SeenRecord[];
  /** Pages with records, and polls that found none. */
  readonly pages: number;
  readonly polls: number;
  readonly prunes: number;
  /** By readers after the end, each from the beginning. */
  readonly walks: readonly (readonly SeenRecord[])[];
  readonly changes: readonly ToldChange[];
}

const place = (id: unknown, position: number, at: string): string =>
  `${String(id)} at ${position}, ${at}`;
const placeSeen = (record: SeenRecord): string =>
  place(record.payload.id, record.position, record.last_modified_at);
const placeChange = (change: ToldChange): string =>
  place(change.id, change.position, change.modifiedAt);

/** Nothing missed, nothing twice, in the order of modification, and nothing that never was. */
export function judgeReader({ seen, changes }: ToldPaging): void {
  judgeOrder(seen);
  const places = seen.map(placeSeen);
  assert.equal(new Set(places).size, places.length, 'a modification came twice');
  const known = new Set(places);
  const missed = latest(changes)
    .map(placeChange)
    .filter((at) => !known.has(at));
  assert.deepEqual(missed, [], 'the last modification of a record was never seen');
  const byPlace = Map.groupBy(changes, placeChange);
  for (const record of seen) {
    const shown = (byPlace.get(placeSeen(record)) ?? []).some((change) => shows(record, change));
    assert.ok(shown, `the log has no ${JSON.stringify(record)}`);
  }
}

/** A reader after the end sees each record once, as the log has it last. */
export function judgeWalk(walk: readonly SeenRecord[], { changes }: ToldPaging): void {
  judgeOrder(walk);
  const left = latest(changes);
  assert.deepEqual(walk.map(placeSeen), left.map(placeChange));
  for (const [at, record] of walk.entries()) {
    const change = left[at];
    assert.ok(change && shows(record, change), `${JSON.stringify(record)} is not as in the log`);
  }
}

function judgeOrder(records: readonly SeenRecord[]): void {
  for (const [at, record] of records.entries()) {
    const before = records[at - 1];
    if (before === undefined) continue;
    const isLater = before.last_modified_at <= record.last_modified_at;
    assert.ok(isLater, `${placeSeen(record)} after ${placeSeen(before)}`);
    assert.ok(before.position < record.position, `${placeSeen(record)} after ${placeSeen(before)}`);
  }
}

/** The last change of each record that was not purged, by position. */
function latest(changes: readonly ToldChange[]): ToldChange[] {
  const records = new Map(changes.map((change) => [change.id, change]));
  const left = [...records.values()].filter(({ action }) => action !== 'purged');
  return left.sort((a, b) => a.position - b.position);
}

/** As docs/reference/records.md has it. */
function shows(record: SeenRecord, change: ToldChange): boolean {
  const isAdded = change.firstSeenAt === change.modifiedAt;
  const action = change.deletedAt !== null ? 'DELETED' : isAdded ? 'ADDED' : 'UPDATED';
  const payload = change.isPruned ? { id: change.id } : change.payload;
  return (
    record.first_seen_at === change.firstSeenAt &&
    record.last_action === action &&
    record.deleted_at === change.deletedAt &&
    (record.pruned_at !== undefined) === change.isPruned &&
    isDeepStrictEqual(record.payload, payload)
  );
}
