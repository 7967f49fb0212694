import type { DatabaseSync } from 'node:sqlite';
import { asLogFailure } from './sqlite-failure.ts';

/**
 * Moves the content of the write-ahead log into the tables, as far as readers allow, and returns the number of
 * pages of the write-ahead log. Without disk space everything stays there, and the next checkpoint moves it.
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
