import type { Logger } from 'pino';
import { GatewayError } from '../../../kernel/errors.ts';
import type { QueryClass, ProjectionStore } from '../../../ports/projection-store.ts';
import { TabWriter } from '../../../ports/rows.ts';
import type { Batch, Entry } from './batch.ts';
import { records, writeMarked, type RecordTableSet } from './definition.ts';

interface InserterDeps {
  readonly store: ProjectionStore;
  readonly tables: RecordTableSet;
  readonly logger: Pick<Logger, 'error'>;
  /** The lane of the inserts, asked before each; default `insert`. */
  readonly queryClass?: () => QueryClass;
}

type Retrying = (task: () => Promise<void>) => Promise<void>;

export interface Inserter {
  /** Durable when it resolves. A change that the table refuses is written without its payload. */
  insert(batch: Batch): Promise<void>;
}

/** Writes batches into the first table of the set; `retrying` repeats temporary failures. */
export function createInserter(deps: InserterDeps, retrying: Retrying): Inserter {
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

  /** Finds the changes that the table refuses by halving, and writes them without their payload. */
  const insertParts = async (entries: readonly Entry[], token: string): Promise<void> => {
    if (entries.length > 1) {
      const middle = entries.length >> 1;
      await insertPart(entries.slice(0, middle), `${token}/0`);
      await insertPart(entries.slice(middle), `${token}/1`);
      return;
    }
    for (const entry of entries) {
      const { event_id: eventId } = entry.change;
      marked.clear();
      writeMarked(marked, entry.change, entry, 'refused');
      logger.error({ eventId }, 'the table refused a change; written without payload');
      await insertRows(marked.text(), `${token}/marked`);
    }
  };

  const insertPart = async (entries: readonly Entry[], token: string): Promise<void> => {
    marked.clear();
    for (const entry of entries) records.write(marked, entry.change, entry);
    try {
      await insertRows(marked.text(), token);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      await insertParts(entries, token);
    }
  };

  return {
    async insert(batch) {
      const token = batch.token(topic);
      try {
        await insertRows(batch.rows.text(), token);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        await insertParts(batch.entries, token);
      }
    },
  };
}

function isRefusal(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'projection_refused';
}
