/**
 * What `@clickhouse/client` alone takes to insert rows that a gateway has projected: `same-rows.ts <folder of the
 * tables> <rows>`. Once into tables like those of a generation, with what is derived from the rows, and once into a
 * table alone. The rows are read before each insert, which does not count.
 */
import { createClient, type ClickHouseClientConfigOptions } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
import { createStatement } from '#adapters/projection-store/clickhouse.ts';
import { records } from '#modules/records/projection/definition.ts';
import { report, seconds } from './measure.ts';

const [path = '', count = '0'] = process.argv.slice(2);
const rowsPerInsert = 10_000;

// It implements the client's interface, but declares it with another copy of the same types.
type Injected = NonNullable<ClickHouseClientConfigOptions['connection']>;
const client = createClient({ connection: createChdbConnection({ path }) as unknown as Injected });

interface Place {
  readonly log_partition: number;
  readonly stream_id: string;
  readonly position: string;
}

/** Rows per second. */
async function insertInto(table: string): Promise<number> {
  let inserted = 0;
  let spent = 0;
  for (let after: Place | null = null; inserted < Number(count);) {
    const values: Place[] = await rowsAfter(after);
    if (values.length === 0) break;
    spent += await seconds(() => client.insert({ table, values, format: 'JSONEachRow' }));
    inserted += values.length;
    after = values.at(-1) ?? null;
  }
  return Math.round(inserted / spent);
}

async function rowsAfter(after: Place | null): Promise<Place[]> {
  const from =
    after === null
      ? ''
      : `WHERE (log_partition, stream_id, position) > (${after.log_partition}, ${after.stream_id}, ${after.position})`;
  const answer = await client.query({
    query: `SELECT * FROM records FINAL ${from} ORDER BY log_partition, stream_id, position LIMIT ${rowsPerInsert}
      SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 1`,
    format: 'JSONEachRow',
  });
  return answer.json<Place>();
}

const unusedGeneration = 1_000;
const { migrations, tables } = records.tableSet(unusedGeneration);
for (const step of migrations.flatMap(({ steps }) => steps)) {
  await client.command({ query: typeof step === 'string' ? step : createStatement(step, null) });
}
const likeOurs = await insertInto(tables[0]);
await client.command({ query: 'CREATE TABLE table_alone AS records' });
const alone = await insertInto('table_alone');
await client.close();
report({ client_same_rows_per_s: likeOurs, client_table_alone_per_s: alone });
