/* oxlint-disable typescript/no-unsafe-assignment -- expect.any() is anything */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openEmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { isBefore } from '#adapters/event-log/embedded/releases.ts';
import { loadConfig } from '#app/config/config.ts';
import { release } from '#app/config/version.ts';
import { projections } from '#app/process/projections.ts';
import { checkGateway, checkInstallation } from '#app/tools/upgrade-check.ts';
import { addedTopics } from '#modules/extensions/registered.ts';
import { asyncapiDocument } from '#modules/operations/topics/asyncapi.ts';

const run = promisify(execFile);
const fixture = join(import.meta.dirname, '../../../../fixtures/d9919b2/plain/data.tar.gz');

let folder: string;
let dataDir: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-upgrade-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));
beforeEach(async () => {
  dataDir = await mkdtemp(join(folder, 'data-'));
});

const check = () => checkInstallation(loadConfig({ SVC_DATA_DIR: dataDir }));
const onLog = (sql: string): void => {
  const db = new DatabaseSync(join(dataDir, 'log', 'log.sqlite'));
  db.exec(sql);
  db.close();
};

describe('a data folder of an earlier commit', () => {
  beforeEach(() => run('tar', ['-xzf', fixture, '-C', dataDir]));

  it('can be opened: its log upgrades, and each derived store opens or rebuilds', async () => {
    const other = new DatabaseSync(join(dataDir, 'state', 'records', 'records-1.db'));
    other.exec('PRAGMA user_version = 77');
    other.close();
    const findings = await check();
    const outcomes = Object.fromEntries(findings.map(({ part, outcome }) => [part, outcome]));
    const { release: opened, log, schemas, ...stores } = outcomes;
    expect({ opened, log, schemas }).toEqual({
      opened: 'opens',
      log: 'upgrades',
      schemas: 'opens',
    });
    expect(Object.keys(stores)).toHaveLength(6);
    expect(new Set(Object.values(stores)).isSubsetOf(new Set(['opens', 'rebuilds']))).toBe(true);
    expect(findings).toContainEqual({
      part: 'state of records',
      outcome: 'rebuilds',
      detail: expect.stringMatching(/^[1-4] of 4 files, from the log, at the start$/),
    });
  });

  it('is refused when its log has a later format', async () => {
    onLog('PRAGMA user_version = 99');
    const detail = expect.stringMatching(/^has format 99; release .+ reads up to \d+$/);
    expect(await check()).toContainEqual({ part: 'log', outcome: 'refused', detail });
  });

  it('is refused when a later release has registered an incompatible schema', async () => {
    onLog(
      `UPDATE schemas SET definition = replace(definition, '"wrapped","type":"bytes"', '"wrapped","type":"string"')`,
    );
    expect(await check()).toContainEqual({
      part: 'schema svc.internal.keys.v1',
      outcome: 'refused',
      detail: expect.stringContaining('.wrapped was "string" and is "bytes"'),
    });
  });

  it('names topics of a later release, which it leaves as they are', async () => {
    onLog(`INSERT INTO schemas (subject, definition) VALUES ('svc.later.v1-value', '"string"')`);
    const detail = expect.stringContaining('unknown topics, left as they are: svc.later.v1');
    expect(await check()).toContainEqual({ part: 'schemas', outcome: 'opens', detail });
  });
});

describe('releases of a log', () => {
  const directory = (): string => join(dataDir, 'log');
  const open = async (version: string, floor: string): Promise<void> => {
    await using _ = await openEmbeddedLog({
      directory: directory(),
      release: { version, floor },
    });
  };

  it('are recorded once each, and shown', async () => {
    const { version } = release();
    for (const each of ['0.1.0', version, version]) await open(each, '0.1.0');
    const detail = `written by 0.1.0, ${version}; this is ${version}`;
    expect(await check()).toContainEqual({ part: 'release', outcome: 'opens', detail });
  });

  it('refuse a downgrade below the floor, at the start and in the check, and change nothing', async () => {
    await open('9.2.0', '9.1.0');
    const { version } = release();
    const detail = `written by 9.2.0, which opens from 9.1.0 on; this is ${version}`;
    expect(await check()).toContainEqual({ part: 'release', outcome: 'refused', detail });
    await expect(open('9.0.11', '9.0.0')).rejects.toThrow(
      'The event log was written by release 9.2.0 and opens from release 9.1.0 on; this is 9.0.11.',
    );
    await open('9.1.0', '9.0.0');
    await open('10.0.0', '9.1.0');
    const db = new DatabaseSync(join(directory(), 'log.sqlite'), { readOnly: true });
    const versions = db.prepare('SELECT version FROM releases').all();
    expect(versions.map(({ version: one }) => one).toSorted()).toEqual([
      '10.0.0',
      '9.1.0',
      '9.2.0',
    ]);
    db.close();
  });

  it('compares versions by number', () => {
    expect(isBefore('0.9.0', '0.10.0')).toBe(true);
    expect(isBefore('0.10.0', '0.9.9')).toBe(false);
    expect(isBefore('1.2.3', '1.2.3')).toBe(false);
  });

  it('without a log there is nothing to check', async () => {
    await expect(check()).rejects.toThrow('has no event log');
  });
});

/** The gateway of another release: what it serves, on a server of its own. */
async function answering<T>(
  answers: Readonly<Record<string, unknown>>,
  work: (url: string) => Promise<T>,
): Promise<T> {
  const server = createServer(({ url = '' }, response) => {
    response.statusCode = Object.hasOwn(answers, url) ? 200 : 404;
    response.end(JSON.stringify(answers[url]));
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.close();
  }
}

const documentOf = (version: string, floor: string) =>
  structuredClone(
    asyncapiDocument({ version, floor, ownedPartitions: 4, prefix: 'svc' }, addedTopics),
  );

describe('a running gateway', () => {
  const { version } = release();

  it('of a later release is taken over only above its floor', async () => {
    const check = (floor: string) =>
      answering({ '/asyncapi.json': documentOf('9.2.0', floor) }, (url) =>
        checkGateway({ url, accountKey: null }),
      );
    expect(await check('9.1.0')).toContainEqual({
      part: 'release',
      outcome: 'refused',
      detail: `the gateway runs 9.2.0; this is ${version}, and its data opens from 9.1.0 on`,
    });
    expect((await check('0.1.0')).map(({ outcome }) => outcome)).toEqual(['opens', 'opens']);
  });

  it('with an incompatible public schema is refused', async () => {
    const document = documentOf(version, '0.1.0') as unknown as {
      components: { messages: Record<string, { payload: { schema: { fields: unknown[] } } }> };
    };
    const { schema } = document.components.messages['ConnectionChanged']?.payload ?? {};
    schema?.fields.push({ name: 'added', type: 'string' });
    const findings = await answering({ '/asyncapi.json': document }, (url) =>
      checkGateway({ url, accountKey: null }),
    );
    expect(findings).toContainEqual({
      part: 'schema ConnectionChanged',
      outcome: 'refused',
      detail: expect.stringContaining('the earlier version cannot read the new one'),
    });
  });

  it('with tables of an earlier schema has them rebuilt', async () => {
    const [first, ...rest] = projections.map(({ name, schemaVersion }) => ({
      name,
      schema_version: schemaVersion,
    }));
    const answers = {
      '/asyncapi.json': documentOf(version, '0.1.0'),
      '/projections': { projections: [{ ...first, schema_version: 0 }, ...rest] },
    };
    const findings = await answering(answers, (url) => checkGateway({ url, accountKey: 'key' }));
    const tables = findings.filter(({ part }) => part.startsWith('tables '));
    expect(tables.map(({ outcome }) => outcome)).toEqual(['rebuilds', ...rest.map(() => 'opens')]);
    expect(tables[0]?.detail).toContain(`svc projections rebuild ${first?.name}`);
  });

  it('is named when it does not answer', async () => {
    const url = 'http://127.0.0.1:9';
    await expect(checkGateway({ url, accountKey: null })).rejects.toThrow(`answers at ${url}`);
  });
});
