import type { SqlParams } from '../../../ports/projection-store.ts';
import { partitionsOf, topics } from '../../../../streams/topics.ts';
import type { ProjectionTables } from '../../../../streams/projector/define.ts';
import type { Generation, Projection } from '../../../../streams/projector/projection-state.ts';
import type { OperationsServices } from '../services.ts';

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

type Deps = Pick<OperationsServices, 'log' | 'tables' | 'settings'>;
type Place = Omit<PartitionFigures, 'position'>;

/** @throws GatewayError `projection_unavailable`, `log_unavailable` */
export async function figuresOf(
  deps: Deps,
  projectionTables: ProjectionTables,
  projection: Projection,
): Promise<ProjectionFigures> {
  const sets = projection.generations.map(({ number }) => projectionTables.tableSet(number));
  const places = await placesOf(deps, projectionTables);
  const reached = await reachedOf(
    deps,
    sets.map(({ name }) => name),
  );
  const sizes = await sizesOf(
    deps,
    sets.flatMap(({ tables }) => tables),
  );
  const generations = projection.generations.map((generation, at): GenerationFigures => {
    const { name = '', tables = [] } = sets[at] ?? {};
    const partitions = places.map(({ partition, start, end }) => {
      const next = reached.get(`${name}/${partition}`) ?? start;
      // Beyond the end: the table is being emptied and starts over.
      return { partition, start, end, position: next > end ? start : Math.max(start, next) };
    });
    const bytes = tables.reduce((sum, table) => sum + (sizes.get(table)?.bytes ?? 0), 0);
    return { generation, tables, partitions, rows: sizes.get(name)?.rows ?? 0, bytes };
  });
  return { of: projectionTables, projection, generations };
}

async function placesOf({ log, settings }: Deps, { topic }: ProjectionTables): Promise<Place[]> {
  const length = partitionsOf(topics[topic], settings.partitions);
  const partitions = Array.from({ length }, (_, partition) => partition);
  return Promise.all(
    partitions.map(async (partition) => ({
      partition,
      start: await log.startOffset(topic, partition),
      end: await log.endOffset(topic, partition),
    })),
  );
}

async function reachedOf({ tables }: Deps, names: readonly string[]): Promise<Map<string, number>> {
  const params: SqlParams = { names };
  const rows = await tables.queryRows<{ name: string; log_partition: number; next: string }>(
    `SELECT name, log_partition, next_offset AS next FROM projector_positions FINAL
     WHERE name IN {names:Array(String)}`,
    params,
    'page',
  );
  return new Map(rows.map((row) => [`${row.name}/${row.log_partition}`, Number(row.next)]));
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
