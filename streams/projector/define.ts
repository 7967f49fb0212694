import type { Migration } from '../../src/ports/projection-store.ts';
import type { TabWriter } from '../../src/ports/rows.ts';
import type { TopicName } from '../topics.ts';

/** The tables of one generation: a rebuild fills those of the next one beside those that are read. */
export interface TableSet {
  /** Unique among all projections and generations; names the stored positions. */
  readonly name: string;
  readonly generation: number;
  /** The tables as they came about; applied in order. */
  readonly migrations: readonly Migration[];
  /** All of them split by `log_partition`. The first takes the rows; the others follow by views. */
  readonly tables: readonly [insertInto: string, ...others: string[]];
  /** To be dropped before the tables they feed. */
  readonly views: readonly string[];
  /** Tables whose superseded rows are to be merged away. */
  readonly replacing: readonly string[];
}

/** What everything that looks after projections knows of one. */
export interface ProjectionTables<T extends TableSet = TableSet> {
  readonly name: string;
  readonly topic: TopicName;
  /** Grows when the tables or their rows change in a way that only a rebuild brings about. */
  readonly schemaVersion: number;
  readonly tableSet: (generation: number) => T;
}

/** A projection: tables, and one pure function from a message of a topic to rows of the first of them. */
export interface Projection<E, C, T extends TableSet> extends ProjectionTables<T> {
  /** The tables of a generation, or the copies of them that are compared. */
  readonly tableSet: (generation: number, use?: 'read' | 'compare') => T;
  readonly columns: readonly string[];
  /** Writes the rows of one message. The highest version wins, so a replay gives the same table. */
  write(rows: TabWriter, event: E, context: C): void;
}

export function defineProjection<E, C, T extends TableSet = TableSet>() {
  return (projection: Projection<E, C, T>): Projection<E, C, T> => projection;
}
