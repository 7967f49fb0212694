/**
 * What `@clickhouse/client` alone takes to insert rows that a gateway has projected: `same-rows.ts <folder of the
 * tables> <rows>`. The rows are read before each insert, which does not count.
 */
import { createClient, type ClickHouseClientConfigOptions } from '@clickhouse/client';
import { createChdbConnection } from 'chdb/connection';
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

await client.command({ query: 'CREATE TABLE same_rows AS records' });
let inserted = 0;
let spent = 0;
let after: Place | null = null;
while (inserted < Number(count)) {
  const from: string =
    after === null
      ? ''
      : `WHERE (log_partition, stream_id, position) > (${after.log_partition}, ${after.stream_id}, ${after.position})`;
  const answer = await client.query({
    query: `SELECT * FROM records FINAL ${from} ORDER BY log_partition, stream_id, position LIMIT ${rowsPerInsert}
      SETTINGS max_threads = 1, output_format_json_quote_64bit_integers = 1`,
    format: 'JSONEachRow',
  });
  const values = await answer.json<Place>();
  if (values.length === 0) break;
  spent += await seconds(() =>
    client.insert({ table: 'same_rows', values, format: 'JSONEachRow' }),
  );
  inserted += values.length;
  after = values.at(-1) ?? null;
}
await client.close();
report({ client_same_rows_per_s: Math.round(inserted / spent) });
