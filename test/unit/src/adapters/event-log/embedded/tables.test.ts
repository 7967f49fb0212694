import { expect, it } from 'vitest';
import {
  openCheckpointConnection,
  openWriteConnection,
} from '#adapters/event-log/embedded/tables.ts';
import { temporaryFolder } from '#test/support/worlds/embedded-log.ts';

/** `PRAGMA synchronous`: the write-ahead log is flushed to the disk before a commit returns. */
const full = 2;

it('a commit of the log returns when it is on disk, also while a checkpoint runs', async () => {
  await using folder = await temporaryFolder();
  for (const open of [openWriteConnection, openCheckpointConnection]) {
    const db = open(folder.path);
    expect(db.prepare('PRAGMA synchronous').get()).toEqual({ synchronous: full });
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' });
    db.close();
  }
});
