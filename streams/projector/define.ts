import type { Migration, ProjectionStore, TableDefinition } from '#ports/projection-store.ts';
import type { TabWriter } from '#tables/rows.ts';
import type { TopicName } from '../topics.ts';

/** The tables of one generation: a rebuild fills those of the next one beside the active ones. */
export interface TableSet {
  /** Unique among all projections and generations; names the stored positions. */
  readonly name: string;
  readonly generation: number;
  /** The history of the tables; applied in order. */
  readonly migrations: readonly Migration[];
  /** All partitioned by `log_partition`. The first receives the rows; views fill the others. */
  readonly tables: readonly [insertInto: string, ...others: string[]];
  /** To drop before the tables that they feed. */
  readonly views: readonly string[];
  /** Tables whose superseded rows must be merged away. */
  readonly replacing: readonly string[];
}

/** The generic part of a projection. */
export interface ProjectionTables<T extends TableSet = TableSet> {
  readonly name: string;
  readonly topic: TopicName;
  /** Increases when the tables or their rows change in a way that requires a rebuild. */
  readonly schemaVersion: number;
  readonly tableSet: (generation: number) => T;
}

/** A projection: tables, and one pure function from a message of a topic to rows of the first table. */
interface Projection<E, C, T extends TableSet> extends ProjectionTables<T> {
  /** The tables of a generation, or their copies for a comparison. */
  readonly tableSet: (generation: number, use?: 'read' | 'compare') => T;
  readonly columns: readonly string[];
  /** Writes the rows of one message. The highest version wins, so that a replay gives the same table. */
  write(writer: TabWriter, event: E, context: C): void;
}

export function defineProjection<E, C, T extends TableSet = TableSet>() {
  return (projection: Projection<E, C, T>): Projection<E, C, T> => projection;
}

/** Removes the tables of the set, if there are any. */
export async function dropTables(store: ProjectionStore, set: TableSet): Promise<void> {
  for (const name of [...set.views, ...set.tables]) {
    await store.drop(name);
  }
}

/** Progress of a projector; written after the rows. The highest revision applies. */
export const positionsTable: TableDefinition = {
  name: 'projector_positions',
  columns: [
    'name String',
    'log_partition UInt16',
    'next_offset UInt64',
    'owner_epoch UInt64',
    "at_end_at DateTime64(3, 'UTC')",
    'revision UInt64',
  ],
  engine: 'ReplacingMergeTree(revision)',
  orderBy: ['name', 'log_partition'],
  tokensKept: 0,
};
