import type { Logger } from 'pino';
import type { QueryClass, ProjectionStore } from '#ports/projection-store.ts';
import { insertByHalves } from '#streams/projector/table-projector.ts';
import { TabWriter } from '#tables/rows.ts';
import type { Batch, Entry } from './batch.ts';
import { records, writeMarked, type RecordTableSet } from './definition.ts';

interface InserterDeps {
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly logger: Pick<Logger, 'error'>;
  /** The lane of the inserts, asked before each; default `insert`. */
  readonly queryClass?: () => QueryClass;
}

type RetryTask = (task: () => Promise<void>) => Promise<void>;

export interface Inserter {
  /**
   * Durable when it resolves. Changes that the table refuses are written without their payload; resolves with them.
   */
  insert(batch: Batch): Promise<readonly Entry[]>;
}

/** Writes batches into the first table of the set; `retrying` repeats temporary failures. */
export function createInserter(deps: InserterDeps, retrying: RetryTask): Inserter {
  const { store, tables, logger } = deps;
  const { columns, topic } = records;
  const [table] = tables.tables;
  const marked = new TabWriter(64 * 1024);

  /** A failed insert may have been written: the same rows under the same token until it succeeds. */
  const insertRows = (rows: Uint8Array, deduplicationToken: string): Promise<void> =>
    retrying(() => {
      const queryClass = deps.queryClass?.() ?? 'insert';
      return store.insert({ table, columns, rows, deduplicationToken, queryClass });
    });

  const rowsOf = (entries: readonly Entry[]): Uint8Array => {
    marked.clear();
    for (const entry of entries) records.write(marked, entry.change, entry);
    return marked.text();
  };
  let refused: Entry[] = [];
  const insertMarked = async (entry: Entry, token: string): Promise<void> => {
    const { event_id: eventId } = entry.change;
    marked.clear();
    writeMarked(marked, entry.change, entry, 'refused');
    logger.error({ eventId }, 'the table refused a change; written without payload');
    await insertRows(marked.text(), `${token}/marked`);
    refused.push(entry);
  };

  return {
    async insert(batch) {
      refused = [];
      await insertByHalves(
        batch.entries,
        batch.token(topic),
        (entries, token) =>
          insertRows(entries === batch.entries ? batch.writer.text() : rowsOf(entries), token),
        insertMarked,
      );
      return refused;
    },
  };
}
