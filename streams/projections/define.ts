import type { Migration } from '../../src/ports/projection-store.ts';
import type { TabWriter } from '../../src/ports/rows.ts';
import type { TopicName } from '../topics.ts';

/** A projection: tables, and one pure function from a message of a topic to rows of the first of them. */
export interface Projection<E, C> {
  readonly name: string;
  readonly topic: TopicName;
  /** The tables as they came about; applied in order. */
  readonly migrations: readonly Migration[];
  /** Emptied for a rebuild, all of them split by `log_partition`. */
  readonly tables: readonly string[];
  /** Where rows are inserted; the other tables follow by views. */
  readonly insertInto: string;
  readonly columns: readonly string[];
  /** Writes the rows of one message. The highest version wins, so a replay gives the same table. */
  write(rows: TabWriter, event: E, context: C): void;
}

export function defineProjection<E, C>() {
  return (projection: Projection<E, C>): Projection<E, C> => projection;
}
