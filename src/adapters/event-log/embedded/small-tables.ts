import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';

/** The tables beside the batches whose rows carry a checksum, `crc`, and what it covers. */
const covered = {
  topics: 'id, name, partitions, cleanup',
  partitions: 'id, topic, number, start, next, peak, cleaned, cleaned_count',
  writers: 'name, epoch',
  group_positions: 'name, topic, partition, position',
} as const;

const tables = Object.entries(covered);

/** Gives the connection `row_crc(…)`, which its statements write beside the values. */
export function addRowCrc(db: DatabaseSync): void {
  // A damaged integer may be larger than a number holds.
  const options = { deterministic: true, varargs: true, useBigIntArguments: true };
  db.function('row_crc', options, (...values) => crc32(values.join('\0')));
}

/** The statements that give the column to tables which an earlier release made. */
export function missingColumns(db: DatabaseSync): string {
  const lacking = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = ?
    AND NOT EXISTS (SELECT 1 FROM pragma_table_info(?) WHERE name = 'crc')`);
  const found = tables.filter(([table]) => lacking.get(table, table) !== undefined);
  return found.map(([table]) => `ALTER TABLE ${table} ADD COLUMN crc INTEGER;`).join('');
}

/** The statements that give every row its checksum. */
export const writeChecksums = tables
  .map(([table, columns]) => `UPDATE ${table} SET crc = row_crc(${columns});`)
  .join('');

/** The statement that does so for one row, named by its id. */
export const setChecksumOf = (table: 'topics' | 'partitions'): string =>
  `UPDATE ${table} SET crc = row_crc(${covered[table]}) WHERE id = ?`;

/** @throws GatewayError `log_corrupt` naming the table */
export function checkSmallTables(db: DatabaseSync): void {
  for (const [table, columns] of tables) {
    const query = `SELECT 1 FROM ${table} WHERE crc IS NOT row_crc(${columns}) LIMIT 1`;
    if (db.prepare(query).get() === undefined) continue;
    const message = `The event log is corrupt: a row of its table ${table}.`;
    throw new GatewayError('log_corrupt', { message });
  }
}
