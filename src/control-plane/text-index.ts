import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { crc32 } from 'node:zlib';

/** The most characters of a term. */
const gramLength = 3;

/** Terms of a search that are looked up: comparing the few rows that have the rarest is cheaper than one more. */
const lookedUpMax = 3;
/** Terms of a search among which the rarest are chosen, evenly spread over its text. */
const comparedMax = 64;
/** Newest entries of a term by which its frequency is estimated: the rarer, the further back they reach. */
const sampleSize = 16;

/** Changes with `termsOf`, so that views are rebuilt. */
const termsVersion = 1;

const indexOf = (table: string): string => `${table}_text`;

/**
 * The index of a search table with the columns `environment_uid`, `search` and `position`. FTS5 keeps terms only: it
 * cannot return a text.
 */
export const textIndexDdl = (table: string): string => `
  CREATE VIRTUAL TABLE ${indexOf(table)} USING fts5(
    terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
  ); -- terms ${termsVersion}
  CREATE INDEX ${table}_position ON ${table} (position);
`;

/**
 * Finds the rows whose column `search` contains a text, greatest `position` first, without reading the other rows. It
 * holds the positions of every sequence of up to three characters, separately for each environment. Rows that share a
 * position share an entry, so few may. Its terms are our own (docs/adr/0044-search-terms-of-our-own.md).
 */
export class TextIndex {
  readonly #textOf: StatementSync;
  readonly #textsAt: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;
  readonly #clear: StatementSync;
  readonly #positions: StatementSync;
  readonly #sample: StatementSync;

  constructor(database: DatabaseSync, table: string) {
    const index = indexOf(table);
    this.#textOf = database.prepare(
      `SELECT environment_uid, search, position FROM ${table} WHERE key = ?`,
    );
    this.#textOf.setReadBigInts(true);
    this.#textsAt = database.prepare(
      `SELECT environment_uid, search FROM ${table} WHERE position = ?`,
    );
    this.#put = database.prepare(`INSERT INTO ${index} (rowid, terms) VALUES (?, ?)`);
    this.#remove = database.prepare(`DELETE FROM ${index} WHERE rowid = ?`);
    this.#clear = database.prepare(`INSERT INTO ${index} (${index}) VALUES ('delete-all')`);
    const positions = `SELECT rowid FROM ${index} WHERE ${index} MATCH ? AND rowid <= ? ORDER BY rowid DESC`;
    this.#positions = database.prepare(positions);
    this.#positions.setReadBigInts(true);
    this.#sample = database.prepare(`${positions} LIMIT 1 OFFSET ${sampleSize - 1}`);
    this.#sample.setReadBigInts(true);
  }

  /** Performs the change of the row, and follows it. */
  during(key: string, change: () => void): void {
    const before = this.#textOf.get(key);
    change();
    const after = this.#textOf.get(key);
    if (before?.['search'] === after?.['search'] && before?.['position'] === after?.['position'])
      return;
    for (const position of new Set([before?.['position'], after?.['position']])) {
      if (typeof position === 'bigint') this.#renew(position);
    }
  }

  clear(): void {
    this.#clear.run();
  }

  /** Positions up to the given one whose rows may contain the text, greatest first: compare the rows. */
  *positions(environmentUid: string, text: string, upTo: bigint): Generator<bigint> {
    const length = Math.min(gramLength, text.length);
    const terms = this.#rarest([...termsOf(environmentUid, text, length)], upTo);
    for (const row of this.#positions.iterate(terms.join(' '), upTo)) yield row['rowid'] as bigint;
  }

  #rarest(terms: readonly string[], upTo: bigint): readonly string[] {
    if (terms.length <= lookedUpMax) return terms;
    const step = Math.max(1, terms.length / comparedMax);
    const reach = (term: string): bigint =>
      (this.#sample.get(term, upTo)?.['rowid'] as bigint | undefined) ?? -1n;
    return Array.from({ length: Math.min(terms.length, comparedMax) }, (_, n) => {
      const term = terms[Math.floor(n * step)] ?? '';
      return { term, reaches: reach(term) };
    })
      .sort((a, b) => (a.reaches < b.reaches ? -1 : 1))
      .slice(0, lookedUpMax)
      .map(({ term }) => term);
  }

  #renew(position: bigint): void {
    this.#remove.run(position);
    const terms = new Set<string>();
    for (const row of this.#textsAt.all(position)) {
      for (let length = 1; length <= gramLength; length += 1) {
        for (const term of termsOf(String(row['environment_uid']), String(row['search']), length)) {
          terms.add(term);
        }
      }
    }
    if (terms.size > 0) this.#put.run(position, [...terms].join(' '));
  }
}

/** Checksums of the sequences of the length: short, of safe characters; two may be equal. */
function termsOf(environmentUid: string, text: string, length: number): Set<string> {
  const terms = new Set<string>();
  for (let at = 0; at + length <= text.length; at += 1) {
    terms.add(crc32(`${environmentUid}/${text.slice(at, at + length)}`).toString(36));
  }
  return terms;
}
