import { existsSync, closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { CannotStart } from '#kernel/cannot-start.ts';
import { stableJson } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import type { TopicSpec } from '#ports/event-log.ts';
import type { StoredRow } from './row-format.ts';
import { syncFolder, type RowKeys } from './row-keys.ts';
import { sealRow } from './sealed-row.ts';
import { formatOf, formatVersions, logFile, openWriteConnection } from './tables.ts';

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

/** Left free on the disk besides the copy. */
const reserveBytes = 64 * 1024 ** 2;

interface Upgrade {
  /** Locked, and not open yet. */
  readonly directory: string;
  readonly rowKeys: RowKeys;
  readonly erasable: readonly TopicSpec[];
  readonly freeBytes: () => number;
  readonly report: (failure: string) => void;
}

/**
 * Upgrades a log of an earlier release to the current format: seals the rows of topics that are erasable now, then
 * rewrites the whole file, because pages keep remnants of data that SQLite moved. A crash leaves the log unchanged,
 * or with sealed rows; the next start continues from there.
 */
export function upgrade({ directory, rowKeys, erasable, freeBytes, report }: Upgrade): void {
  const copy = `${logFile(directory)}.copy`;
  rmSync(copy, { force: true });
  if (erasable.length === 0 || !isEarlier(directory)) return;
  const db = openWriteConnection(directory);
  try {
    if (formatOf(db) === formatVersions.plain) sealRows(db, rowKeys, erasable);
    const { size } = statSync(logFile(directory));
    if (freeBytes() < size + reserveBytes) {
      const mebibytes = Math.ceil((size + reserveBytes) / 1024 ** 2);
      report(
        `Keys that are destroyed may leave remnants in log.sqlite until a start finds ${mebibytes} MB free to rewrite it.`,
      );
      return;
    }
    db.prepare('VACUUM INTO ?').run(copy);
  } finally {
    db.close();
  }
  markRewritten(copy);
  renameSync(copy, logFile(directory));
  syncFolder(directory);
}

function isEarlier(directory: string): boolean {
  const db = new DatabaseSync(logFile(directory));
  const format = formatOf(db);
  db.close();
  return format === formatVersions.plain || format === formatVersions.sealed;
}

function sealRows(db: DatabaseSync, rowKeys: RowKeys, erasable: readonly TopicSpec[]): void {
  const rows = db.prepare(`SELECT b.id, b.partition, b.base, b.next, b.codec, b.directory, b.body
    FROM batches b JOIN partitions p ON p.id = b.partition JOIN topics t ON t.id = p.topic
    WHERE t.name = ?`);
  const update = db.prepare('UPDATE batches SET codec = ?, crc = ?, body = ? WHERE id = ?');
  const setCleanup = db.prepare('UPDATE topics SET cleanup = ? WHERE name = ?');
  rowKeys.keepOnly(new Set());
  db.exec('BEGIN IMMEDIATE');
  for (const { name, cleanup } of erasable) {
    setCleanup.run(stableJson(cleanup), name);
    for (const found of rows.all(name)) {
      const row = found as unknown as StoredRow & {
        readonly id: number;
        readonly partition: number;
      };
      const sealed = sealRow(row, row, rowKeys.take());
      update.run(sealed.codec, sealed.crc, sealed.body, row.id);
    }
  }
  db.exec(`PRAGMA user_version = ${formatVersions.sealed}; COMMIT`);
}

function markRewritten(copy: string): void {
  const db = new DatabaseSync(copy);
  db.exec(`PRAGMA user_version = ${formatVersions.rewritten}`);
  db.close();
  const fd = openSync(copy, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
