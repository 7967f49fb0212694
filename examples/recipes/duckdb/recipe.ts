import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { JsonObject } from '#kernel/stable-json.ts';
import { installPythonPackages } from '#test/clients/toolchains.ts';
import { run } from '#test/services/commands.ts';
import { versions } from '#test/services/versions.ts';
import type { GatewayAccess } from '#test/support/processes/gateway.ts';
import { openCrmWorld } from '#test/support/worlds/crm-world.ts';
import { differencesOf, type Copied } from '../differences.ts';
import { contacts, currentRecords, syncContacts, type Report } from '../world.ts';

const program = fileURLToPath(new URL('contacts.py', import.meta.url));
const count = 500;
const compareForMs = 60_000;

/** The current records in a Parquet file of `POST /sql`, which DuckDB reads. Without Kafka. */
export async function playDuckdb(
  report: Report,
): Promise<{ readonly records: number; readonly differences: readonly string[] }> {
  await using stack = new AsyncDisposableStack();
  const { duckdb } = versions;
  const packages = await installPythonPackages(`duckdb-${duckdb}`, 'DuckDB', [`duckdb==${duckdb}`]);
  const folder = await mkdtemp(join(tmpdir(), 'svc-recipe-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  report('starting a gateway');
  const world = stack.use(await openCrmWorld());
  const connections = [await world.connect(), await world.connect()];
  report('saving contacts, changing some, deleting some');
  for (const one of connections) {
    await syncContacts(one, contacts(count, 'first'));
    const changed = contacts(count, 'second').slice(0, 100);
    await syncContacts(one, [...changed, ...contacts(count, 'first').slice(200)]);
  }
  const expected = await currentRecords(connections);
  report('exporting the records to a Parquet file, and reading it with DuckDB');
  const file = join(folder, 'contacts.parquet');
  const deadline = performance.now() + compareForMs;
  for (;;) {
    await writeFile(file, await exported(world.gateway));
    const env = { ...process.env, PYTHONPATH: packages };
    const differences = differencesOf(
      expected,
      copied(await run('python3', [program, file], { env })),
    );
    if (differences.length === 0 || performance.now() > deadline) {
      report(`${expected.size} records, ${differences.length} differences`);
      return { records: expected.size, differences };
    }
    await wait(500);
  }
}

/** Tables follow the records within a moment. */
async function exported({ url, key }: GatewayAccess): Promise<Buffer> {
  const query = `SELECT * FROM v_records WHERE model = 'Contact'`;
  const response = await fetch(`${url}/sql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, format: 'parquet' }),
  });
  if (!response.ok) throw new Error(`POST /sql: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

const copied = (lines: string): Copied[] =>
  lines
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const { connection, record } = JSON.parse(line) as { connection: string; record: JsonObject };
      return { connection, id: record['id'] as string, record };
    });
