import { migrate } from '#adapters/projection-store/migrate.ts';
import { viewsOf, type ReadTables } from '#modules/extensions/sql/views.ts';
import { runs } from '#modules/functions/runs/ledger/projection.ts';
import { logs } from '#modules/operations/logs/projection.ts';
import { records } from '#modules/records/projection/definition.ts';
import { recordTables } from '#modules/records/read/tables.ts';
import type { CallerFormat, CallerLimits, QueryableStore } from '#ports/projection-store.ts';

export const sqlTables: ReadTables = {
  records: recordTables(1),
  runs: 'runs',
  logs: 'logs',
  custom: [],
};

export const sqlLimits: CallerLimits = {
  seconds: 20,
  memoryBytes: 1024 ** 3,
  rows: 1_000,
  resultBytes: 16 * 1024 ** 2,
};

/** The tables of the first generations. */
export async function migrateAll(store: QueryableStore): Promise<void> {
  for (const { tableSet } of [records, runs, logs]) await migrate(store, tableSet(1).migrations);
}

/** Recent: rows of logs and runs expire. */
const time = "toDateTime64(toStartOfHour(now('UTC')), 6, 'UTC')";

/** A record with two changes, a run, an attempt of a webhook and a request to a provider, each with the word. */
export async function fillEnvironment(
  store: QueryableStore,
  environmentUid: string,
  { word, stream }: { readonly word: string; readonly stream: number },
): Promise<void> {
  const { records: table, streams } = recordTables(1);
  await store.command(`INSERT INTO ${streams} VALUES
    (0, '${environmentUid}', ${stream}, 'crm', 'c-${word}', 'uid-${word}', 'Contact', 'base', 1)`);
  const columns =
    'log_partition, stream_id, position, record_id, version, superseded, generation, first_seen_at, modified_at, last_action, deleted_at, pruned_at, payload, payload_encoding, key_id, error, log_offset';
  const row = (position: number, version: number, superseded: 0 | 1, action: string) =>
    `(0, ${stream}, ${position}, 'r-${word}', ${version}, ${superseded}, 'g', ${time}, ${time}, '${action}', NULL, NULL,
      '${superseded === 1 ? '' : JSON.stringify({ id: 'r', name: word })}', '${superseded === 1 ? 'none' : 'json'}', '', '', ${version})`;
  await store.command(`INSERT INTO ${table} (${columns}) VALUES ${row(1, 1, 0, 'ADDED')}`);
  await store.command(
    `INSERT INTO ${table} (${columns}) VALUES ${row(2, 2, 0, 'UPDATED')}, ${row(1, 2, 1, 'MOVED')}`,
  );
  await store.command(
    `INSERT INTO ${table} (${columns}) VALUES
      (0, ${stream}, 3, 's-${word}', 3, 0, 'g', ${time}, ${time}, 'ADDED', NULL, NULL, 'c2VhbGVk', 'json+deflate+aes256gcm', 'uid-${word}', '', 3)`,
  );
  await fillRun(store, environmentUid, word);
  await fillLog(store, environmentUid, word);
}

async function fillRun(store: QueryableStore, environmentUid: string, word: string): Promise<void> {
  const step = (offset: number, seconds: number, action: string, shown: object) =>
    `(0, ${offset}, '${environmentUid}', ${time} + INTERVAL ${seconds} SECOND, 'run-${word}', '${action}', 'sync', 'contacts', 'crm', 'c-${word}', 'base', 1, '${JSON.stringify(shown)}')`;
  await store.command(`INSERT INTO runs VALUES
    ${step(1, 0, 'queued', { trigger: 'api', counts: [] })},
    ${step(2, 1, 'started', { trigger: null, counts: [] })},
    ${step(3, 2, 'progress', { counts: [] })},
    ${step(4, 3, 'succeeded', {
      duration_ms: 2000,
      error_code: null,
      error_message: null,
      counts: [
        { model: 'Contact', added: 3, updated: 2, deleted: 1 },
        { model: 'Deal', added: 1, updated: 0, deleted: 0 },
      ],
    })}`);
}

async function fillLog(store: QueryableStore, environmentUid: string, word: string): Promise<void> {
  const entry = (offset: number, operation: string, type: string, state: string, context: object) =>
    `(0, ${offset}, '${environmentUid}', ${time}, 'e-${offset}', '${operation}', '${type}', '${state}', ${time}, 'crm', 'c-${word}', 'contacts', 'run-${word}', 'info', 'internal', '${word}', '${JSON.stringify(context)}')`;
  const sent = {
    method: 'POST',
    url: `https://${word}.test`,
    status: 500,
    code: null,
    durationMs: 12,
  };
  await store.command(`INSERT INTO logs VALUES
    ${entry(1, `m-${word}.primary`, 'webhook:sync', 'running', { ...sent, attempts: 1, endpoint: 'primary' })},
    ${entry(2, `m-${word}.primary`, 'webhook:sync', 'success', { ...sent, status: 200, attempts: 2, endpoint: 'primary' })},
    ${entry(3, `run-${word}`, '', '', { method: 'GET', url: `https://${word}.test/contacts`, status: 200, durationMs: 8 })},
    ${entry(4, `run-${word}`, 'sync:run', 'success', { counts: 1 })}`);
}

/** Runs a query as a key of the environment. */
export async function askSql(
  store: QueryableStore,
  environmentUid: string,
  sql: string,
  { format = 'json', ...some }: Partial<CallerLimits> & { readonly format?: CallerFormat } = {},
): Promise<string> {
  const { scope } = viewsOf(environmentUid, sqlTables);
  const limits = { ...sqlLimits, ...some };
  return (await store.runCallerQuery({ sql, scope, format, limits })).toString();
}

/** The rows as objects. */
export async function sqlRows(
  store: QueryableStore,
  environmentUid: string,
  sql: string,
): Promise<Record<string, unknown>[]> {
  const { meta, data } = JSON.parse(await askSql(store, environmentUid, sql)) as {
    readonly meta: readonly { readonly name: string }[];
    readonly data: readonly unknown[][];
  };
  return data.map((row) => Object.fromEntries(meta.map(({ name }, at) => [name, row[at]])));
}
