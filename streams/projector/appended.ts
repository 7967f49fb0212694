import type { TableDefinition } from '../../src/ports/projection-store.ts';
import type { TabWriter } from '../../src/ports/rows.ts';
import type { TopicName } from '../topics.ts';
import type { ProjectionTables, TableSet } from './define.ts';
import { positionsTable } from './positions-table.ts';

/** A projection with one row for each message, which nothing changes later: rows go when they are old. */
export interface AppendedProjection<E> extends ProjectionTables {
  readonly columns: readonly string[];
  /**
   * Writes the values of `columns` of one message, without ending the row. A throw leaves the message out.
   */
  write(rows: TabWriter, event: E): void;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a list holds projections of every event
export type AnyAppendedProjection = AppendedProjection<any>;

interface Defined<E> {
  /** Also the name of the table. */
  readonly name: string;
  readonly topic: TopicName;
  readonly schemaVersion: number;
  /** Each with its type; a row has the place of its message in the log besides. */
  readonly columns: readonly (readonly [name: string, type: string])[];
  /** Indexes beside the order, as in a CREATE statement. */
  readonly indexes?: readonly string[];
  /** The question that this order answers begins with equalities and ends with the time. */
  readonly orderBy: readonly string[];
  /** The column of the time that a row is kept from. */
  readonly keptFrom: string;
  readonly keepDays: number;
  readonly write: (rows: TabWriter, event: E) => void;
}

const tokensKept = 1000;

/**
 * The place in the log ends the sort key, so that a message that is read again is the same row. Until they are merged
 * both can be read: questions group, or take `LIMIT 1 BY log_partition, log_offset`.
 */
export function defineAppended<E>() {
  return ({ name, columns, indexes = [], orderBy, keptFrom, keepDays, ...ref }: Defined<E>) => {
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
        return {
          name: table,
          generation,
          migrations: [{ projection: table, number: 1, steps }],
          tables: [table],
          views: [],
          replacing: [],
        };
      },
    };
    return projection;
  };
}
