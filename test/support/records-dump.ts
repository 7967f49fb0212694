import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Payloads } from '../../streams/owners/records/payloads.ts';

/** What the state stores of a folder hold, by partition; the numbers of streams are their own. */
export function dumpStores(folder: string): Record<string, ReturnType<typeof dump>> {
  const files = readdirSync(folder).filter((name) => /^records-\d+\.db$/.test(name));
  return Object.fromEntries(files.sort().map((file) => [file, dump(join(folder, file))]));
}

function dump(file: string) {
  const db = new DatabaseSync(file, { readOnly: true });
  const rows = (sql: string) =>
    db
      .prepare(sql)
      .all()
      .map((row) => ({ ...row }));
  const tables = {
    records:
      rows(`SELECT key, records.id, hash, position, version, first_seen_at, modified_at, deleted_at,
      pruned_at FROM records JOIN streams ON no = stream ORDER BY key, records.id`),
    payloads: rows('SELECT no, key FROM streams ORDER BY key').map(({ no, key }) => ({
      key,
      payloads: payloadsOf(db, Number(no)),
    })),
    heads: rows('SELECT key, hex(head) AS head FROM streams WHERE head IS NOT NULL ORDER BY key'),
  };
  db.close();
  return tables;
}

/** Blocks of the same payloads may differ. */
function payloadsOf(db: DatabaseSync, stream: number) {
  const payloads = new Payloads(db);
  const all = payloads.placed(stream, 0, Number.MAX_SAFE_INTEGER, Infinity, false);
  const positions = all.map(({ position }) => position);
  const found = payloads.read(stream, positions);
  return all.map(({ position, id }) => ({ position, id, ...found.get(position) }));
}
