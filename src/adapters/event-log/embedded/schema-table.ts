import type { DatabaseSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';
import { GatewayError } from '#kernel/errors.ts';
import { mustBeCompatible } from '../schema-compatibility.ts';

/** `crc` binds the text to its id and subject; null if an earlier release wrote the row. */
export const schemaTable = `
  CREATE TABLE IF NOT EXISTS schemas (
    id INTEGER PRIMARY KEY, subject TEXT NOT NULL, definition TEXT NOT NULL, crc INTEGER,
    UNIQUE (subject, definition)) STRICT;`;

/**
 * Compares every text with its checksum, and adds missing ones of earlier releases.
 * @throws GatewayError `log_corrupt` that names the subject
 */
export function checkSchemas(db: DatabaseSync): void {
  const hasCrc = db.prepare(`SELECT 1 FROM pragma_table_info('schemas') WHERE name = 'crc'`).get();
  if (hasCrc === undefined) db.exec('ALTER TABLE schemas ADD COLUMN crc INTEGER');
  const setCrc = db.prepare('UPDATE schemas SET crc = ? WHERE id = ?');
  for (const row of db.prepare('SELECT id, subject, definition, crc FROM schemas').all()) {
    const [id, subject, definition] = [
      Number(row['id']),
      String(row['subject']),
      String(row['definition']),
    ];
    const crc = crcOf(id, subject, definition);
    if (row['crc'] === null) setCrc.run(crc, id);
    else if (row['crc'] !== crc) throw corruptedSchema(id, subject);
  }
}

/**
 * The id of the definition within its subject, assigned on first use; one transaction.
 * @throws GatewayError `incompatible_schema`, `log_corrupt`
 */
export function registerSchema(db: DatabaseSync, subject: string, definition: string): number {
  // The index has a copy of the texts, which no checksum covers.
  const rows = db
    .prepare('SELECT id, definition, crc FROM schemas NOT INDEXED WHERE subject = ?')
    .all(subject);
  // Compared here too: a damaged text would be taken for an incompatible version.
  for (const row of rows) {
    const id = Number(row['id']);
    if (row['crc'] !== crcOf(id, subject, String(row['definition'])))
      throw corruptedSchema(id, subject);
  }
  const existing = rows.find((row) => row['definition'] === definition);
  if (existing !== undefined) return Number(existing['id']);
  mustBeCompatible(
    subject,
    definition,
    rows.map((row) => String(row['definition'])),
  );
  const insert = db.prepare('INSERT INTO schemas (subject, definition) VALUES (?, ?)');
  const id = Number(insert.run(subject, definition).lastInsertRowid);
  db.prepare('UPDATE schemas SET crc = ? WHERE id = ?').run(crcOf(id, subject, definition), id);
  return id;
}

const crcOf = (id: number, subject: string, definition: string): number =>
  crc32(`${id}\0${subject}\0${definition}`);

function corruptedSchema(id: number, subject: string): GatewayError {
  const message = `The event log is corrupt: the schema ${id} of ${subject}.`;
  return new GatewayError('log_corrupt', { message });
}
