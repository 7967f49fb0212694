import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
/**
 * What earlier commits have left on disk opens and reads: a data folder as it is, and the export of its log in an empty
 * one. The fixtures are made by `test/fixtures/make.ts` and never changed.
 */
import { dayMs } from '#kernel/time.ts';
import { answersOf, type FixtureAnswers } from '#test/fixtures/answers.ts';
import {
  definitionsOf,
  openFakeProvider,
  type FakeProvider,
} from '#test/support/fakes/fake-provider.ts';
import { daysLater } from '#test/support/processes/days-later.ts';
import { accessTo, startGateway, type GatewayAccess } from '#test/support/processes/gateway.ts';
import { transfer } from '#test/support/processes/transfer.ts';
import { eventually } from '#test/support/worlds/crm-world.ts';

const run = promisify(execFile);
const fixtures = join(import.meta.dirname, '../fixtures');

interface Facts {
  readonly keys: Pick<GatewayAccess, 'key' | 'prodKey' | 'accountKey'>;
  readonly connectionId: string;
  readonly answers: FixtureAnswers;
}

const entries = await readdir(fixtures, { withFileTypes: true });
const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
const kinds = names.flatMap((name) => [`${name}/plain`, `${name}/sealed`]);

let folder: string;
let provider: FakeProvider;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-earlier-'));
  provider = await openFakeProvider('fixture-key');
});
afterAll(async () => {
  await provider[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function unpacked(kind: string, name: string): Promise<string> {
  const into = join(folder, kind, name);
  await mkdir(into, { recursive: true });
  await run('tar', ['-xzf', join(fixtures, kind, `${name}.tar.gz`), '-C', into]);
  return into;
}

async function open(dataDir: string, facts: Facts) {
  const providers = join(folder, 'providers.json');
  await writeFile(providers, JSON.stringify(definitionsOf(provider)));
  // The gateway's clock stands a minute after the last run: retention would take what is older, and schedules are due.
  const [first] = facts.answers.pages as { records: { _svc_metadata: { cursor: string } }[] }[];
  const written = JSON.stringify(first).match(/"last_modified_at":"([^"]+)"/)?.[1] ?? '';
  const days = (Date.parse(written) + 60_000 - Date.now()) / dayMs;
  const gateway = await startGateway({
    dataDir,
    env: {
      ...daysLater(days),
      SVC_PROVIDERS: providers,
      SVC_EGRESS_ALLOW: provider.hostPort,
    },
  });
  return { gateway, api: accessTo(gateway.url, facts.keys) };
}

/** Functions may have got fields since. */
function expectAsBefore(
  { functions, ...answers }: FixtureAnswers,
  { functions: formerFunctions, ...former }: FixtureAnswers,
): void {
  expect(answers).toEqual(former);
  expect(functions).toMatchObject(formerFunctions as object);
}

describe.each(kinds)('data of %s', (kind) => {
  let facts: Facts;
  beforeAll(async () => {
    facts = JSON.parse(await readFile(join(fixtures, kind, 'facts.json'), 'utf8')) as Facts;
  });

  it('opens, answers as it did, and its deployed functions run', async () => {
    const { gateway, api } = await open(await unpacked(kind, 'data'), facts);
    await using _ = gateway;
    expectAsBefore(await answersOf(api, facts.connectionId), facts.answers);
    const started = await api.call('POST', '/sync/trigger', {
      body: {
        syncs: ['contacts'],
        provider_config_key: 'crm',
        connection_id: facts.connectionId,
      },
    });
    expect(started.status).toBe(200);
    const [latest] = await eventually(
      async () => (await answersOf(api, facts.connectionId)).runs as { status: string }[],
      (runs) =>
        runs.length > (facts.answers.runs as unknown[]).length &&
        ['succeeded', 'failed'].includes(runs[0]?.status ?? ''),
    );
    expect(latest).toMatchObject({ status: 'succeeded' });
  });

  it('answers as it did where the export of its log is imported', async () => {
    const dataDir = join(folder, kind, 'imported');
    await mkdir(dataDir, { recursive: true });
    await transfer('import', await unpacked(kind, 'export'), dataDir);
    const root = join(await unpacked(kind, 'data'), 'root.key');
    await copyFile(root, join(dataDir, 'root.key'));
    const { gateway, api } = await open(dataDir, facts);
    await using _ = gateway;
    await eventually(
      () => answersOf(api, facts.connectionId),
      ({ runs }) => (runs as unknown[]).length === (facts.answers.runs as unknown[]).length,
    );
    expectAsBefore(await answersOf(api, facts.connectionId), facts.answers);
  });
});
