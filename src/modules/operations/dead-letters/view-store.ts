import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Micros } from '../../../kernel/time.ts';
import type { DeadLetter } from '../../../../streams/dead-letters/state.ts';

export const deadLetterTables = {
  version: 2,
  tables: `
  CREATE TABLE letters (
    id TEXT PRIMARY KEY, consumer TEXT NOT NULL, topic TEXT NOT NULL, state TEXT NOT NULL,
    parked_at INTEGER NOT NULL, letter TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX letters_by_state ON letters (state, consumer);
  CREATE INDEX letters_by_age ON letters (parked_at);
`,
};

export interface DeadLetterQuery {
  readonly state?: string | undefined;
  readonly consumer?: string | undefined;
  readonly topic?: string | undefined;
  /** Only dead letters older than this one: ids ascend with time. */
  readonly before?: string | undefined;
  readonly limit: number;
}

/** The tables of a view of dead letters. */
export class DeadLetterStore {
  readonly #database: DatabaseSync;
  readonly #put: StatementSync;
  readonly #get: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#put = this.#database.prepare('INSERT OR REPLACE INTO letters VALUES (?, ?, ?, ?, ?, ?)');
    this.#get = this.#database.prepare('SELECT letter FROM letters WHERE id = ?');
  }

  get(id: string): DeadLetter | null {
    const row = this.#get.get(id);
    return row === undefined ? null : deadLetterOf(row);
  }

  put(deadLetter: DeadLetter): void {
    const { id, consumer, topic, state, parkedAt } = deadLetter;
    this.#put.run(id, consumer, topic, state, parkedAt, JSON.stringify(deadLetter));
  }

  /** Newest first. */
  list({ before, limit, ...wanted }: DeadLetterQuery): DeadLetter[] {
    const fields = Object.entries(wanted).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const conditions = [...fields.map(([field]) => `${field} = ?`), 'id < ?'].join(' AND ');
    const sql = `SELECT letter FROM letters WHERE ${conditions} ORDER BY id DESC LIMIT ?`;
    const values = fields.map(([, value]) => value);
    // '~' comes after every uuid.
    return this.#database
      .prepare(sql)
      .all(...values, before ?? '~', limit)
      .map(deadLetterOf);
  }

  /** Dead letters of the consumer with a requested retry, oldest first. */
  retrying(consumer: string): DeadLetter[] {
    const sql = "SELECT letter FROM letters WHERE state = 'retrying' AND consumer = ? ORDER BY id";
    return this.#database.prepare(sql).all(consumer).map(deadLetterOf);
  }

  /** Deletes dead letters from before the time, which the log has deleted, too. */
  forgetBefore(at: Micros): void {
    this.#database.prepare('DELETE FROM letters WHERE parked_at < ?').run(at);
  }
}

const deadLetterOf = (row: Record<string, unknown>): DeadLetter =>
  JSON.parse(String(row['letter'])) as DeadLetter;
