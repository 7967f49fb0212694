import type { DatabaseSync } from 'node:sqlite';
import { mustBeCompatible } from '../schema-compatibility.ts';

/**
 * The id of the definition within its subject, given on first sight; one transaction.
 * @throws GatewayError `incompatible_schema`
 */
export function registerSchema(db: DatabaseSync, subject: string, definition: string): number {
  const rows = db.prepare('SELECT id, definition FROM schemas WHERE subject = ?').all(subject);
  const known = rows.find((row) => row['definition'] === definition);
  if (known !== undefined) return Number(known['id']);
  mustBeCompatible(
    subject,
    definition,
    rows.map((row) => String(row['definition'])),
  );
  const insert = db.prepare('INSERT INTO schemas (subject, definition) VALUES (?, ?)');
  return Number(insert.run(subject, definition).lastInsertRowid);
}
