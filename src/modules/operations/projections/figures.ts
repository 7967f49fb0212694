import type { EventLog } from '#ports/event-log.ts';
import type { RowQueries } from '#ports/projection-store.ts';
import type { ProjectionTables } from '#streams/projector/define.ts';
import { storedPositions } from '#streams/projector/positions.ts';
import type { Generation, Projection } from '#streams/projector/projection-state.ts';
import { rangesOf } from '../consumer-groups/positions.ts';

export interface PartitionFigures {
  readonly partition: number;
  /** The first offset of the topic. */
  readonly start: number;
  /** The next offset to read. */
  readonly position: number;
  readonly end: number;
}

/** A generation with the current figures of its tables and the log. */
export interface GenerationFigures {
  readonly generation: Generation;
  readonly tables: readonly string[];
  readonly partitions: readonly PartitionFigures[];
  /** Rows of the first table, superseded ones included until they are merged away. */
  readonly rows: number;
  /** Of all its tables, on the disk of the queried store. */
  readonly bytes: number;
}

export interface ProjectionFigures {
  readonly of: ProjectionTables;
  readonly projection: Projection;
  readonly generations: readonly GenerationFigures[];
}

interface Deps {
  readonly log: EventLog;
  readonly tables: RowQueries;
}

/** @throws GatewayError `projection_unavailable`, `log_unavailable` */
export async function figuresOf(
  deps: Deps,
  projectionTables: ProjectionTables,
  projection: Projection,
): Promise<ProjectionFigures> {
  const sets = projection.generations.map(({ number }) => projectionTables.tableSet(number));
  const places = await rangesOf(deps.log, projectionTables.topic);
  const reached = await storedPositions(
    deps.tables,
    sets.map(({ name }) => name),
  );
  const sizes = await sizesOf(
    deps,
    sets.flatMap(({ tables }) => tables),
  );
  const generations = projection.generations.map((generation, at): GenerationFigures => {
    const { name = '', tables = [] } = sets[at] ?? {};
    const partitions = places.map(({ partition, start, end }) => {
      const next = reached.get(name)?.get(partition) ?? start;
      // Beyond the end: the table is being emptied and starts over.
      return { partition, start, end, position: next > end ? start : Math.max(start, next) };
    });
    const bytes = tables.reduce((sum, table) => sum + (sizes.get(table)?.bytes ?? 0), 0);
    return { generation, tables, partitions, rows: sizes.get(name)?.rows ?? 0, bytes };
  });
  return { of: projectionTables, projection, generations };
}

async function sizesOf(
  { tables }: Deps,
  names: readonly string[],
): Promise<Map<string, { readonly rows: number; readonly bytes: number }>> {
  const rows = await tables.queryRows<{ table: string; found: string; bytes: string }>(
    `SELECT table, sum(rows) AS found, sum(bytes_on_disk) AS bytes FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN {names:Array(String)} GROUP BY table`,
    { names },
    'page',
  );
  return new Map(
    rows.map(({ table, found, bytes }) => [table, { rows: Number(found), bytes: Number(bytes) }]),
  );
}
