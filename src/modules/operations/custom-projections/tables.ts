import type { TableDefinition } from '#ports/projection-store.ts';
import { positionsTable, type ProjectionTables, type TableSet } from '#streams/projector/define.ts';
import type { Projection } from '#streams/projector/projection-state.ts';
import type { CustomProjection, ProjectionVersion } from './custom-projection.ts';

const tokensKept = 1000;

/** Every table of these projections begins so, and no other table does. */
export const tablePrefix = 'custom_';

/** Names of the tables of all generations begin so. */
export const tableStem = ({ name, uid }: Pick<CustomProjection, 'name' | 'uid'>): string =>
  `${tablePrefix}${name}_${uid.slice(0, 8)}_g`;

/** Columns of the table begin with `_`, which names of rows do not. This one has the values of all rows of a record. */
export const valuesColumn = (name: string): string => `_c_${name}`;

/**
 * One row for each record, with the values of all its rows as arrays: a change replaces them at once, whatever rows the
 * record had before, and without reading them. The offset of the change is the version: it grows with each change of a
 * stream, which stays in its partition.
 */
const definitionOf = (table: string, { columns }: ProjectionVersion): TableDefinition => ({
  name: table,
  columns: [
    '_log_partition UInt16',
    '_stream_id UInt64',
    '_record_id String CODEC(ZSTD(1))',
    '_log_offset UInt64',
    '_is_deleted UInt8',
    '_integration LowCardinality(String)',
    '_connection_id String',
    '_model LowCardinality(String)',
    '_variant LowCardinality(String)',
    "_modified_at DateTime64(6, 'UTC')",
    '_error String',
    // Only read while it is inserted, by the engine, which parses it faster than a cell after the other is written.
    '_values String EPHEMERAL',
    ...columns.map(
      ({ name, type }, at) =>
        `${valuesColumn(name)} ${arrayOf(type)} DEFAULT ${extracted(type, at + 1)}`,
    ),
  ],
  engine: 'ReplacingMergeTree(_log_offset, _is_deleted)',
  partitionBy: '_log_partition',
  orderBy: ['_stream_id', '_record_id'],
  tokensKept,
  settings: { index_granularity: 2048 },
});

const arrayOf = (type: string): string => `Array(${type})`;

/** The values of the column at that place of the list of columns. Dates come as text. */
function extracted(type: string, at: number): string {
  const isNullable = type.startsWith('Nullable(');
  const plain = isNullable ? type.slice('Nullable('.length, -1) : type;
  if (!plain.startsWith('Date')) return `JSONExtract(_values, ${at}, '${arrayOf(type)}')`;
  const text = isNullable ? 'Nullable(String)' : 'String';
  const suffix = isNullable ? 'OrNull' : 'OrZero';
  const parsed = plain.startsWith('DateTime64')
    ? `parseDateTime64BestEffort${suffix}(x, 6, 'UTC')`
    : `toDate32${suffix}(x)`;
  return `arrayMap(x -> ${parsed}, JSONExtract(_values, ${at}, 'Array(${text})'))`;
}

export const insertedColumns = [
  '_log_partition',
  '_stream_id',
  '_record_id',
  '_log_offset',
  '_is_deleted',
  '_integration',
  '_connection_id',
  '_model',
  '_variant',
  '_modified_at',
  '_error',
  '_values',
] as const;

/** What is needed of a generation: its number, and the version that it is built with. */
export type BuiltGeneration = Pick<Projection['generations'][number], 'number' | 'schemaVersion'>;

export interface CustomTableSet extends TableSet {
  readonly version: ProjectionVersion;
}

/** The tables of a generation. @throws Error for one that does not exist */
export function customTableSet(
  custom: CustomProjection,
  generations: readonly BuiltGeneration[],
  number: number,
): CustomTableSet {
  const built = generations.find((one) => one.number === number)?.schemaVersion;
  const version = custom.versions[built ?? 0];
  if (version === undefined) throw new Error(`${custom.projection} has no generation ${number}`);
  const table = `${tableStem(custom)}${number}`;
  return {
    name: table,
    generation: number,
    version,
    migrations: [
      { projection: table, number: 1, steps: [definitionOf(table, version), positionsTable] },
    ],
    tables: [table],
    views: [],
    replacing: [table],
  };
}

/** The projection as the others of the service. */
export const customTables = (
  custom: CustomProjection,
  generations: readonly BuiltGeneration[],
): ProjectionTables<CustomTableSet> => ({
  name: custom.projection,
  topic: 'svc.records.v1',
  schemaVersion: custom.latest,
  tableSet: (number) => customTableSet(custom, generations, number),
});
