import type { TableDefinition } from '#ports/projection-store.ts';
import type { TabWriter } from '#tables/rows.ts';
import type { TopicName } from '../topics.ts';
import { type ProjectionTables, type TableSet, positionsTable } from './define.ts';

/** A projection with one immutable row per message; rows expire. */
export interface AppendedProjection<E> extends ProjectionTables {
  readonly columns: readonly string[];
  /** Writes the values of `columns` of one message, without ending the row. A throw skips the message. */
  write(writer: TabWriter, event: E): void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list holds projections of every event
export type AnyAppendedProjection = AppendedProjection<any>;

interface AppendedDefinition<E> {
  /** Also the name of the table. */
  readonly name: string;
  readonly topic: TopicName;
  readonly schemaVersion: number;
  /** Each with its type; a row also has the position of its message in the log. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Indexes in addition to the sort order, as in a CREATE statement. */
  readonly indexes?: readonly string[];
  /** Indexes that tables of earlier releases lack: added to them, and built for their rows in the background. */
  readonly addedIndexes?: readonly (readonly [name: string, definition: string])[];
  /** The query that this order serves begins with equalities and ends with the time. */
  readonly orderBy: readonly string[];
  /** The column with the time that determines when a row expires. */
  readonly keptFrom: string;
  readonly keepDays: number;
  readonly write: (writer: TabWriter, event: E) => void;
}

const tokensKept = 1000;

/**
 * The log position ends the sort key, so that a message that is read again gives the same row. Until a merge both
 * can be read: queries group, or use `LIMIT 1 BY log_partition, log_offset`.
 */
export function defineAppended<E>() {
  return (defined: AppendedDefinition<E>) => {
    const { name, columns, indexes = [], addedIndexes = [], orderBy, ...others } = defined;
    const { keptFrom, keepDays, ...ref } = others;
    const definition = (table: string): TableDefinition => ({
      name: table,
      columns: [
        'log_partition UInt16',
        'log_offset UInt64',
        ...columns.map(([column, type]) => `${column} ${type}`),
        ...indexes,
      ],
      engine: 'ReplacingMergeTree',
      partitionBy: 'log_partition',
      orderBy: [...orderBy, 'log_partition', 'log_offset'],
      tokensKept,
      ttl: `toDateTime(${keptFrom}) + INTERVAL ${keepDays} DAY`,
    });
    const projection: AppendedProjection<E> = {
      ...ref,
      name,
      columns: ['log_partition', 'log_offset', ...columns.map(([column]) => column)],
      tableSet(generation): TableSet {
        const table = generation === 1 ? name : `${name}_g${generation}`;
        const steps = [definition(table), positionsTable];
        const added = addedIndexes.map(([index, indexDefinition], at) => ({
          projection: table,
          number: 2 + at,
          steps: [
            `ALTER TABLE ${table} ADD INDEX IF NOT EXISTS ${index} ${indexDefinition}`,
            `ALTER TABLE ${table} MATERIALIZE INDEX ${index}`,
          ],
        }));
        return {
          name: table,
          generation,
          migrations: [{ projection: table, number: 1, steps }, ...added],
          tables: [table],
          views: [],
          replacing: [],
        };
      },
    };
    return projection;
  };
}
