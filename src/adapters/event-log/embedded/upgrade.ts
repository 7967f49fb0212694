import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { stableJson } from '#kernel/stable-json.ts';
import type { TopicSpec } from '#ports/event-log.ts';
import type { StoredRow } from './row-format.ts';
import { syncFolder, type RowKeys } from './row-keys.ts';
import { sealRow } from './sealed-row.ts';
import { formatOf, formatVersions, logFile, openWriteConnection } from './tables.ts';

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
