import type { DatabaseSync } from 'node:sqlite';
import { asLogFailure } from './sqlite-failure.ts';

/**
 * Moves what the write-ahead log holds into the tables, as far as readers allow it, and returns how many pages the
 * write-ahead log has. For want of space all stays there, and the next one moves it.
 */
export function checkpoint(db: DatabaseSync): number {
  try {
    const row = db.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    return Number(row?.['log'] ?? 0);
  } catch (error) {
    if (asLogFailure(error) === error) throw error;
    return 0;
  }
}
