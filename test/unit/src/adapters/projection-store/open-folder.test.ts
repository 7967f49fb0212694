import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openClickHouseStore } from '#adapters/projection-store/clickhouse.ts';
import { openFolder } from '#adapters/projection-store/open-folder.ts';

const adapter = new URL(
  '../../../../../src/adapters/projection-store/clickhouse.ts',
  import.meta.url,
).href;

let parent = '';
let folder = '';
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'svc-tables-'));
  folder = join(parent, 'clickhouse');
  await using store = await openClickHouseStore({ url: `embedded:${folder}` });
  await store.command('CREATE TABLE numbers (n UInt8) ENGINE = MergeTree ORDER BY n');
  await store.command('INSERT INTO numbers VALUES (1)');
});
afterEach(() => rm(parent, { recursive: true, force: true }));

const definition = async () =>
  join(await realpath(join(folder, 'metadata', 'default')), 'numbers.sql');

/** State at a start: the existing tables, and the reported corruption. */
async function opened() {
  const reasons: string[] = [];
  await using store = await openClickHouseStore({
    url: `embedded:${folder}`,
    onDamaged: ({ reason }) => reasons.push(reason),
  });
  const tables = await store.queryRows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = currentDatabase()',
  );
  return { tables: tables.map(({ name }) => name), reasons };
}

describe('a folder of tables', () => {
  it('that is whole stays as it is, also after a process that was killed', async () => {
    await writeFile(join(folder, 'status'), 'PID: 1\n');
    expect(await opened()).toEqual({ tables: ['numbers'], reasons: [] });
  });

  it.each<[string, () => Promise<void>, RegExp]>([
    [
      'a definition that cannot be read',
      async () => writeFile(await definition(), 'ATTACH ?'),
      /cannot be opened/,
    ],
    ['a definition that is gone', async () => rm(await definition()), /definition of numbers/],
    [
      'a definition with other rows',
      async () => {
        const text = await readFile(await definition(), 'utf8');
        const other = text.replace(/UUID '(.)/, (_, digit) => `UUID '${digit === '0' ? '1' : '0'}`);
        await writeFile(await definition(), other);
      },
      /definition of numbers/,
    ],
    [
      'a part that lacks a file',
      async () => {
        const rows = await realpath(join(folder, 'data', 'default', 'numbers'));
        await rm(join(rows, 'all_1_1_0', 'columns.txt'));
      },
      /^the part \S+all_1_1_0 of numbers is broken$/,
    ],
  ])('is replaced by an empty one for %s', async (_, damage, reason) => {
    await damage();
    expect(await opened()).toEqual({ tables: [], reasons: [expect.stringMatching(reason)] });
    expect(await readdir(parent)).toEqual(['clickhouse']);
    expect(await opened()).toEqual({ tables: [], reasons: [] });
  });

  it('is left alone while another process has it', async () => {
    const script = `const { openClickHouseStore } = await import(${JSON.stringify(adapter)});
      const store = await openClickHouseStore({ url: ${JSON.stringify(`embedded:${folder}`)} });
      console.log('open');
      process.stdin.once('end', () => store[Symbol.asyncDispose]()).resume();`;
    const holder = spawn(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const exited = once(holder, 'exit');
    await once(holder.stdout, 'data');
    await expect(opened()).rejects.toThrow(`The tables in ${folder} are in use by another process`);
    holder.stdin.end();
    await exited;
    expect(await opened()).toEqual({ tables: ['numbers'], reasons: [] });
  });

  it('that can be neither opened nor replaced stays as it is, and is named', async () => {
    const fullDisk = () => Promise.reject(new Error('no space left on the device'));
    const opening = openFolder(folder, fullDisk, () => undefined);
    await expect(opening).rejects.toThrow(`The tables in ${folder} can neither be opened nor`);
    expect(await readdir(parent)).toEqual(['clickhouse']);
    expect(await opened()).toEqual({ tables: ['numbers'], reasons: [] });
  });
});
