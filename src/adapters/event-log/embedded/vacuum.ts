import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { Committer } from './committer.ts';
import type { TimeBudget } from './time-budget.ts';

/** Free pages (of 8 KiB) that stay in the file, for later writes. */
const pagesKept = 1024;
/** Pages returned in one step: each may mean a page moved from the end of the file. */
const pagesPerStep = 16;

/** Returns the space of deleted data to the file system, from the end of the file. */
export class Vacuum {
  private readonly committer: Committer;
  private readonly free: StatementSync;
  private readonly db: DatabaseSync;

  constructor(db: DatabaseSync, committer: Committer) {
    this.db = db;
    this.committer = committer;
    this.free = db.prepare('PRAGMA freelist_count');
  }

  async vacuum(budget: TimeBudget, isStopped: () => boolean): Promise<void> {
    while (!isStopped() && this.freePages() > pagesKept) {
      this.committer.runNow(() => {
        do this.db.exec(`PRAGMA incremental_vacuum(${pagesPerStep})`);
        while (!budget.isOver && this.freePages() > pagesKept);
      });
      await budget.rest();
    }
  }

  private freePages(): number {
    return Number(this.free.get()?.['freelist_count'] ?? 0);
  }
}
