import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attemptsOf } from '#test/support/judges/sql-attempts.ts';
import {
  eventually,
  openSharedCrmWorld,
  succeeded,
  type CrmConnection,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

interface Result {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

let world: SharedCrmWorld;
let crm: CrmConnection;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  crm = await world.connect();
  crm.account.contacts = [
    { id: 'c-1', name: 'Ada' },
    { id: 'c-2', name: 'Grace' },
  ];
  expect(await crm.run('contacts')).toMatchObject({ success: true });
});
afterAll(() => world[Symbol.asyncDispose]());

const ask = (body: object, key?: string) =>
  world.gateway.call('POST', '/sql', { body, ...(key === undefined ? {} : { key }) });
const rows = async (query: string, key?: string): Promise<Result['rows']> =>
  (succeeded(await ask({ query }, key)) as Result).rows;
const errorOf = ({ body }: { readonly body: unknown }) =>
  (body as { error: { code: string; message: string; fix: string } }).error;
async function auditEvents() {
  const { accountKey: key } = world.gateway;
  const page: unknown = succeeded(await world.gateway.call('GET', '/audit', { key }));
  return (page as { data: readonly { action: string; target: string }[] }).data;
}
const ofConnection = (view: string, columns: string): string =>
  `SELECT ${columns} FROM ${view} WHERE connection_id = '${crm.id}'`;

describe('POST /sql', () => {
  it('reads the records that a run saved, with their names', async () => {
    const query = `${ofConnection('v_records', "integration, model, record_id, action, JSONExtractString(payload, 'name') AS name")} ORDER BY record_id`;
    const result = succeeded(await ask({ query })) as Result;
    expect(result.columns).toEqual(
      ['integration', 'model', 'record_id', 'action', 'name'].map((name) => ({
        name,
        type: name === 'name' ? 'Nullable(String)' : 'String',
      })),
    );
    expect(result.rows).toEqual([
      ['crm', 'Contact', 'c-1', 'added', 'Ada'],
      ['crm', 'Contact', 'c-2', 'added', 'Grace'],
    ]);
    crm.account.contacts = [{ id: 'c-1', name: 'Ada L.' }];
    expect(await crm.run('contacts')).toMatchObject({ success: true });
    const later = await rows(query);
    expect(later.map(([, , ...row]) => row)).toEqual([
      ['c-1', 'updated', 'Ada L.'],
      ['c-2', 'deleted', 'Grace'],
    ]);
    const history = ofConnection('v_record_history', 'record_id, action, toUInt32(seq)');
    expect(await rows(`${history} ORDER BY seq`)).toEqual([
      ['c-1', 'added', 1],
      ['c-2', 'added', 2],
      ['c-1', 'updated', 3],
      ['c-2', 'deleted', 4],
    ]);
    expect(
      await rows(ofConnection('v_changes', 'toUInt32(count()), toUInt32(uniq(log_offset))')),
    ).toEqual([[4, 4]]);
  });

  it('reads runs, webhooks and requests to the provider', async () => {
    const runs = ofConnection('v_runs', 'kind, function, status, toUInt32(sum(added))');
    expect(
      await eventually(
        () => rows(`${runs} AND function = 'contacts' GROUP BY ALL`),
        (found) => found.length > 0 && found.every(([, , status]) => status !== 'started'),
      ),
    ).toEqual([['sync', 'contacts', 'succeeded', 2]]);
    const sent = ofConnection('v_webhook_attempts', 'kind, outcome, status');
    expect(
      await eventually(
        () => rows(`${sent} AND kind = 'sync' LIMIT 1`),
        (found) => found.length > 0,
      ),
    ).toEqual([['sync', 'delivered', 200]]);
    await world.gateway.call('GET', '/proxy/contacts', { headers: crm.headers });
    const calls = ofConnection('v_provider_calls', 'method, status');
    expect(
      await eventually(
        () => rows(`${calls} AND function = '' LIMIT 1`),
        (found) => found.length > 0,
      ),
    ).toEqual([['GET', 200]]);
  });

  it('answers in each format', async () => {
    const query = `${ofConnection('v_records', 'record_id, action')} ORDER BY record_id LIMIT 1`;
    const csv = await ask({ query, format: 'csv' });
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.body).toMatch(/^"record_id","action"\n"c-1","\w+"\n$/);
    const table = await ask({ query, format: 'table' });
    expect(table.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(table.body).toMatch(/record_id.*\n.*c-1/);
    const parquet = await ask({ query, format: 'parquet' });
    expect(parquet.headers.get('content-type')).toBe('application/vnd.apache.parquet');
    expect(parquet.body).toMatch(/^PAR1[^]*PAR1$/);
  });

  it('reads nothing of another environment', async () => {
    const { prodKey } = world.gateway;
    for (const view of [
      'v_records',
      'v_record_history',
      'v_changes',
      'v_runs',
      'v_webhook_attempts',
      'v_provider_calls',
    ])
      expect(await rows(ofConnection(view, 'connection_id'), prodKey)).toEqual([]);
    const scope = await world.gateway.call('GET', `/environments/${world.environmentId}`, {
      key: world.gateway.accountKey,
    });
    const { uuid } = (scope.body as { data: { uuid: string } }).data;
    const names = { uid: uuid, other: `svc_sql_${uuid.replaceAll('-', '')}`, database: 'default' };
    for (const query of attemptsOf(names)) {
      const answer = await ask({ query, format: 'csv' }, prodKey);
      const { status } = answer;
      const body = answer.body as unknown;
      if (status !== 200) expect(errorOf({ body }).code, query).toMatch(/^sql_/);
      else expect(body, query).not.toMatch(/c-1|Ada/);
    }
    expect(await rows(ofConnection('v_records', 'count()'))).toEqual([['2']]);
  });

  it.each([
    ['DROP TABLE records', 'sql_refused', 'not a SELECT'],
    ['SELECT * FROM system.tables', 'sql_refused', 'names a database: system.tables'],
    ["SELECT * FROM url('http://localhost')", 'sql_refused', 'reads url()'],
    ['SELECT nothing FROM v_records', 'sql_failed', 'nothing'],
    ['SELECT 1 +', 'sql_failed', 'Syntax error'],
  ])('refuses %s', async (query, code, words) => {
    const answer = await ask({ query });
    expect(answer.status).toBe(400);
    const error = errorOf(answer);
    expect(error).toMatchObject({ code, message: expect.stringContaining(words) as string });
    expect(error.fix).not.toBe('');
  });

  it('ends a query by its limit, and names it', async () => {
    const limited = async (query: string, limit: object) => errorOf(await ask({ query, ...limit }));
    expect(await limited('SELECT number FROM numbers(100000)', { max_rows: 10 })).toMatchObject({
      code: 'sql_limit',
      message: expect.stringContaining('more than 10 rows (max_rows)') as string,
      fix: 'Send a larger max_rows, or add LIMIT.',
    });
    expect(
      await limited('SELECT sum(sipHash64(number)) FROM numbers(100000000000)', { timeout_s: 1 }),
    ).toMatchObject({
      code: 'sql_limit',
      message: expect.stringContaining('longer than 1 s (timeout_s)') as string,
    });
    expect(
      await limited('SELECT groupArray(number) FROM numbers(1000000000)', { timeout_s: 60 }),
    ).toMatchObject({ code: 'sql_limit', message: expect.stringContaining('1024 MiB') as string });
    // The next one finds a connection of its own.
    expect(await rows('SELECT 1')).toEqual([[1]]);
  });

  it('runs one query of an environment at a time', async () => {
    const query = 'SELECT sum(sipHash64(number)) FROM numbers(100000000000)';
    const first = ask({ query, timeout_s: 2 });
    const second = await eventually(
      () => ask({ query: 'SELECT 1' }),
      ({ status }) => status === 429,
    );
    expect(second).toMatchObject({ body: { error: { code: 'too_many_request' } } });
    expect(await first).toMatchObject({ status: 400 });
  });
});

describe('svc sql', () => {
  const main = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));
  const folder = mkdtempSync(join(tmpdir(), 'svc-sql-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const svc = (args: readonly string[], input = '') => {
    const { url, key } = world.gateway;
    const run = promisify(execFile)(process.execPath, [main, 'sql', ...args], {
      cwd: folder,
      env: { ...process.env, SVC_HOSTPORT: url, SVC_SECRET_KEY_DEV: key },
    });
    run.child.stdin?.end(input);
    return run;
  };
  const query = () => `${ofConnection('v_records', 'record_id')} ORDER BY record_id LIMIT 1`;

  it('prints a table, reads stdin, and writes a file', async () => {
    expect((await svc([query()])).stdout).toMatch(/record_id[^]*c-1/);
    const piped = await svc(['--format', 'csv'], query());
    expect(piped.stdout).toBe('"record_id"\n"c-1"\n');
    await svc([query(), '--format', 'parquet', '--out', 'rows.parquet']);
    expect(readFileSync(join(folder, 'rows.parquet')).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('saves a query, runs it by its name, and deletes it', async () => {
    await svc(['save', 'first record'], query());
    const listed = await svc(['queries']);
    expect(listed.stdout).toMatch(/^query +saved +answers\nfirst record +\d{4}-/);
    await svc(['save', 'first record', query(), '--description', 'Which record is first?']);
    expect(JSON.parse((await svc(['queries', '--format', 'json'])).stdout)).toMatchObject([
      { name: 'first record', description: 'Which record is first?', query: query() },
    ]);
    const rows = await svc(['--saved', 'first record', '--format', 'csv']);
    expect(rows.stdout).toBe('"record_id"\n"c-1"\n');
    await svc(['delete', 'first record', '--yes']);
    await expect(svc(['--saved', 'first record'])).rejects.toMatchObject({
      stderr: expect.stringContaining('no saved query "first record"') as string,
    });
    const ofQuery = async () =>
      (await auditEvents()).filter(({ target }) => target === 'first record');
    const own = await eventually(ofQuery, (all) => all.length === 3);
    expect(own.map(({ action }) => action)).toEqual([
      'saved_query.delete',
      'saved_query.save',
      'saved_query.save',
    ]);
  });

  it('fails with what the service says', async () => {
    await expect(svc(['DROP TABLE records'])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('sql_refused') as string,
    });
    await expect(svc(['SELECT 1', '--format', 'parquet'])).rejects.toMatchObject({
      stderr: expect.stringContaining('--out') as string,
    });
  });
});
