import { mkdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { CannotStart } from '#kernel/cannot-start.ts';
import { GatewayError } from '#kernel/errors.ts';
import { isDatabaseCorruption } from '#kernel/sqlite-corruption.ts';
import { checkSchemas, schemaTable } from './schema-table.ts';
import { addRowCrc, checkSmallTables, missingColumns, writeChecksums } from './small-tables.ts';
import { isBusy } from './sqlite-failure.ts';

/**
 * `batches` holds one row per encoded batch (row-format.ts); `next` is the offset after it and stays when
 * compaction takes messages out. `peak` is the newest timestamp of the row and all before it in its
 * partition, so that times can be searched by halving. `horizon` is when the tombstones of a compacted
 * row may go. The large columns come last: reading the others does not touch their pages. For `crc` of the other tables see
 * small-tables.ts. `releases` has the versions that have opened the log for writing (releases.ts).
 */
const tables = `
  CREATE TABLE IF NOT EXISTS log (
    id INTEGER PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL) STRICT;
  INSERT OR IGNORE INTO log VALUES (1, lower(hex(randomblob(16))));
  CREATE TABLE IF NOT EXISTS topics (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, partitions INTEGER NOT NULL,
    cleanup TEXT NOT NULL, crc INTEGER) STRICT;
  CREATE TABLE IF NOT EXISTS partitions (
    id INTEGER PRIMARY KEY, topic INTEGER NOT NULL, number INTEGER NOT NULL,
    start INTEGER NOT NULL, next INTEGER NOT NULL, peak REAL NOT NULL,
    cleaned INTEGER NOT NULL, cleaned_count INTEGER NOT NULL, crc INTEGER,
    UNIQUE (topic, number)) STRICT;
  CREATE TABLE IF NOT EXISTS batches (
    id INTEGER PRIMARY KEY, partition INTEGER NOT NULL, base INTEGER NOT NULL, next INTEGER NOT NULL,
    count INTEGER NOT NULL, bytes INTEGER NOT NULL, codec INTEGER NOT NULL, crc INTEGER NOT NULL,
    newest REAL NOT NULL, peak REAL NOT NULL, horizon REAL,
    directory BLOB NOT NULL, body BLOB NOT NULL) STRICT;
  CREATE UNIQUE INDEX IF NOT EXISTS batches_by_place ON batches (partition, next);
  CREATE INDEX IF NOT EXISTS batches_by_horizon ON batches (partition, horizon)
    WHERE horizon IS NOT NULL;
  CREATE TABLE IF NOT EXISTS writers (
    name TEXT PRIMARY KEY, epoch INTEGER NOT NULL, crc INTEGER) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS group_topics (
    name TEXT NOT NULL, topic INTEGER NOT NULL, PRIMARY KEY (name, topic)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS group_positions (
    name TEXT NOT NULL, topic INTEGER NOT NULL, partition INTEGER NOT NULL, position INTEGER NOT NULL,
    crc INTEGER, PRIMARY KEY (name, topic, partition)) STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS releases (
    version TEXT PRIMARY KEY, floor TEXT NOT NULL, since REAL NOT NULL) STRICT, WITHOUT ROWID;
  ${schemaTable}
`;

/**
 * Of the tables and of the rows in them. 2: rows of erasable topics are sealed; 3: and the file was rewritten since,
 * so that no page holds a remnant of their former rows (upgrade.ts); 4: rows of the small tables have checksums, which a
 * release that does not know them would leave behind.
 */
export const formatVersions = { plain: 1, sealed: 2, rewritten: 3, current: 4 } as const;

export const logFile = (directory: string): string => join(directory, 'log.sqlite');

/** How long a connection waits for the lock of another one. */
const busyTimeoutMs = 5_000;

/**
 * The only connection that writes. Every commit is on disk when it returns (`synchronous=FULL`).
 * Its commits have checkpoints made (checkpointer.ts); the engine's own is for what they do not count.
 * `maxPages` (of 8 KiB) bounds the file. What retention and compaction take out is overwritten, for it may have been
 * erased on demand.
 */
export function openWriteConnection(directory: string, maxPages?: number): DatabaseSync {
  const db = new DatabaseSync(logFile(directory), { timeout: busyTimeoutMs });
  const found = mustBeReadable(db);
  const isUpgraded = found === 0 || found === formatVersions.rewritten;
  const version = isUpgraded ? formatVersions.current : found;
  addRowCrc(db);
  db.exec(`
    PRAGMA page_size = 8192;
    PRAGMA auto_vacuum = INCREMENTAL;
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA cache_size = -16384;
    PRAGMA wal_autocheckpoint = 4096;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA secure_delete = ON;
    PRAGMA temp_store = MEMORY;
    ${maxPages === undefined ? '' : `PRAGMA max_page_count = ${maxPages};`}
    BEGIN IMMEDIATE; ${tables} ${missingColumns(db)} ${isUpgraded ? writeChecksums : ''}
    PRAGMA user_version = ${version}; COMMIT;`);
  checkSchemas(db);
  if (version === formatVersions.current) checkSmallTables(db);
  return db;
}

/** The format of the file; 0 = there is none yet. */
export const formatOf = (db: DatabaseSync): number =>
  Number(db.prepare('PRAGMA user_version').get()?.['user_version']);

/** @throws CannotStart */
function mustBeReadable(db: DatabaseSync): number {
  const found = formatOf(db);
  if (found <= formatVersions.current) return found;
  db.close();
  const message = `The event log has format ${found}; this release reads up to ${formatVersions.current}. Start the release that wrote it, or a later one.`;
  throw new CannotStart(message);
}

/** For checkpoints concurrent with commits. It writes nothing of its own. */
export function openCheckpointConnection(directory: string): DatabaseSync {
  const db = new DatabaseSync(logFile(directory), { timeout: busyTimeoutMs });
  db.exec('PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864;');
  return db;
}

/** For readers, one per thread. It sees committed data only. */
export function openReadConnection(directory: string): DatabaseSync {
  return new DatabaseSync(logFile(directory), { readOnly: true, timeout: busyTimeoutMs });
}

/**
 * Holds the directory against processes that write until closed, beside others that share it. Writes nothing.
 * @throws GatewayError `conflict` while another process holds it alone.
 */
export function shareDirectory(directory: string): DatabaseSync {
  const lock = new DatabaseSync(join(directory, lockName), { readOnly: true, timeout: 0 });
  try {
    lock.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
  } catch (error) {
    lock.close();
    throw isBusy(error) ? takenDirectory(directory, error) : error;
  }
  return lock;
}

/**
 * Holds the directory for this process until closed; the system releases it when the process dies.
 * @throws GatewayError `conflict` while another process holds it.
 */
export function lockDirectory(directory: string): DatabaseSync {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const lockFile = join(directory, lockName);
  const lock = new DatabaseSync(lockFile, { timeout: 0 });
  try {
    lock.exec('BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (isDatabaseCorruption(error)) {
      // A lock only; it never has content.
      truncateSync(lockFile);
      return lockDirectory(directory);
    }
    if (!isBusy(error)) throw error;
    throw takenDirectory(directory, error);
  }
}

const lockName = 'lock.sqlite';

function takenDirectory(directory: string, cause: unknown): GatewayError {
  const message = `The event log in ${directory} is in use by another process.`;
  return new GatewayError('conflict', { message }, { cause });
}
