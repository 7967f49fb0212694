import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CannotStart } from '#kernel/cannot-start.ts';
import { systemClock } from '#kernel/time.ts';
import { formatOf, formatVersions, logFile } from './tables.ts';

/** A version of this package, and the earliest one that can open what it writes. */
export interface Release {
  readonly version: string;
  readonly floor: string;
}

/** What a log says of itself. */
export interface LogFacts {
  readonly format: number;
  readonly formatMax: number;
  /** In order of their first start; none if earlier releases have written it. */
  readonly releases: readonly Release[];
  /** Every schema text ever registered. */
  readonly schemas: readonly { readonly subject: string; readonly definition: string }[];
}

/** Reads the log of the folder and changes nothing, also while a process has it open; null: there is none. */
export function inspectLog(directory: string): LogFacts | null {
  const file = logFile(directory);
  if (!existsSync(file)) return null;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const format = formatOf(db);
    if (format === 0) return null;
    const schemas = db.prepare('SELECT subject, definition FROM schemas ORDER BY id').all();
    return {
      format,
      formatMax: formatVersions.current,
      releases: releasesOf(db),
      schemas: schemas as unknown as LogFacts['schemas'],
    };
  } finally {
    db.close();
  }
}

/** A release that has written the log and cannot be followed by this one; null: there is none. */
export const beyond = (releases: readonly Release[], { version }: Release): Release | null =>
  releases.find(({ floor }) => isBefore(version, floor)) ?? null;

/** Compares versions of the form 1.2.3. */
export const isBefore = (version: string, other: string): boolean =>
  version.localeCompare(other, 'en', { numeric: true }) < 0;

/**
 * Records the release at its first start on this log.
 * @throws CannotStart if a later release has written what this one cannot open
 */
export function enterRelease(db: DatabaseSync, release: Release): void {
  const { version, floor } = release;
  const found = beyond(releasesOf(db), release);
  if (found !== null) {
    const message = `The event log was written by release ${found.version} and opens from release ${found.floor} on; this is ${version}. Start ${found.floor} or a later release, or restore a backup from before the upgrade.`;
    throw new CannotStart(message);
  }
  const insert = db.prepare('INSERT OR IGNORE INTO releases VALUES (?, ?, ?)');
  insert.run(version, floor, systemClock.now());
}

function releasesOf(db: DatabaseSync): readonly Release[] {
  const has = db.prepare(`SELECT 1 FROM sqlite_master WHERE name = 'releases'`).get();
  if (has === undefined) return [];
  const rows = db.prepare('SELECT version, floor FROM releases ORDER BY since, version').all();
  return rows as unknown as Release[];
}
