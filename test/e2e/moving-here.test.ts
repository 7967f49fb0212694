import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Report } from '#cli/import/report.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openFakeGateway, type FakeGateway } from '#test/support/fakes/fake-gateway.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import {
  openSharedCrmWorld,
  succeeded,
  type SharedCrmWorld,
} from '#test/support/worlds/crm-world.ts';

const repository = new URL('../../', import.meta.url).pathname;
const page = readFileSync(join(repository, 'docs/moving-here.md'), 'utf8');
const sourceKey = 'source-key-of-the-test';

let world: SharedCrmWorld;
let source: FakeGateway;
let root: string;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  source = await openFakeGateway(sourceKey);
  root = mkdtempSync(join(tmpdir(), 'svc-moving-'));
  cpSync(join(repository, 'examples/demo-provider'), join(root, 'old-functions'), {
    recursive: true,
  });
  for (const n of [1, 2]) {
    source.connections.push({
      connection_id: `moved-${n}`,
      provider_config_key: 'crm',
      metadata: { webhookSecret: `metadata-of-${n}` },
      connection_config: { account: `moved-${n}` },
      tags: {},
      credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
    });
  }
  source.integrations.push({ unique_key: 'crm', provider: 'crm', display_name: 'Moved' });
  source.variables.push({ name: 'REGION', value: 'value-of-the-variable' });
  source.syncs.push(
    {
      provider_config_key: 'crm',
      connection_id: 'moved-1',
      name: 'contacts',
      variant: 'base',
      frequency: '2h',
      status: 'PAUSED',
    },
    {
      provider_config_key: 'crm',
      connection_id: 'moved-2',
      name: 'not-deployed',
      variant: 'base',
      frequency: '1h',
      status: 'SUCCESS',
    },
  );
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await source[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** A command of the page; the environments are those of the test. */
async function run(line: string): Promise<Ended> {
  const target = line.replace('https://gateway.example.com', source.url);
  const [words = '', into] = target.split(' > ');
  const args = words.split(' ').slice(1);
  if (!line.startsWith('svc ')) {
    execFileSync(words.split(' ')[0]!, args, { cwd: root, stdio: 'ignore' });
    return { exitCode: 0, out: '', err: '', questions: [] };
  }
  const named = args.map((arg) => (arg === 'dev' ? world.environmentName : arg));
  const ended = await commandLine(named, {
    root,
    sandbox: null as never,
    variables: {
      SVC_HOSTPORT: world.gateway.url,
      [`SVC_SECRET_KEY_${world.environmentName.toUpperCase()}`]: world.gateway.key,
      SVC_SECRET_KEY_PROD: world.gateway.prodKey,
      SVC_ACCOUNT_KEY: world.gateway.accountKey,
      SVC_SOURCE_KEY: sourceKey,
    },
  });
  if (into !== undefined) writeFileSync(join(root, into), ended.out);
  return ended;
}

const blocks = [...page.matchAll(/^```sh\n([^]*?)^```/gm)].map(([, block = '']) =>
  block
    .split('\n')
    .map((line) => line.replace(/ +#.*/, ''))
    .filter((line) => line !== '' && !line.startsWith('export ')),
);
const secrets = () => [world.provider.apiKey, 'metadata-of-', 'value-of-the-variable', sourceKey];
const get = async (path: string, key = world.gateway.key) =>
  succeeded(await world.gateway.call('GET', path, { key })) as JsonObject;

describe('the page about moving', () => {
  it('has commands that do what it says', async () => {
    const all = blocks.flat();
    expect(all.length).toBeGreaterThanOrEqual(10);
    const codes: [string, number][] = [];
    for (const line of all) {
      const { exitCode, out, err } = await run(line);
      codes.push([line, exitCode]);
      for (const secret of secrets())
        expect([line, out + err]).toEqual([line, expect.not.stringContaining(secret)]);
    }
    // One sync of the source is not deployed; the other environment has no functions.
    expect(codes.filter(([, code]) => code !== 0 && code !== 5)).toEqual([]);
    for (const secret of secrets()) {
      expect(readFileSync(join(root, 'dev.json'), 'utf8')).not.toContain(secret);
    }
    expect(statSync(join(root, 'dev.json')).mode & 0o077).toBe(0);
  });

  it('brought connections, variables and schedules', async () => {
    const shown = await get('/connections/moved-1?provider_config_key=crm');
    expect(shown['metadata']).toEqual({ webhookSecret: 'metadata-of-1' });
    const { syncs } = await get(
      '/sync/status?syncs=contacts&provider_config_key=crm&connection_id=moved-1',
    );
    expect(syncs).toMatchObject([{ frequency: '2h', status: 'PAUSED' }]);
    expect(await get('/environment-variables')).toContainEqual(source.variables[0]);
    const again = await run('svc import https://gateway.example.com -e dev --yes --json');
    const report = JSON.parse(again.out) as Report;
    expect(report.changes).toEqual([]);
    expect(report.problems).toMatchObject([
      { kind: 'syncs', id: 'crm/moved-2/not-deployed', code: 'missing_function' },
    ]);
  });

  it('moved the environment into another, with what it holds', async () => {
    const prod = world.gateway.prodKey;
    const shown = await get('/connections/moved-2?provider_config_key=crm', prod);
    expect(shown).toMatchObject({
      metadata: { webhookSecret: 'metadata-of-2' },
      connection_config: { account: 'moved-2' },
      credentials: { type: 'API_KEY', apiKey: world.provider.apiKey },
    });
    expect(await get('/environment-variables', prod)).toContainEqual(source.variables[0]);
    const again = await run('svc import dev.json --private-key export.pem -e prod --yes --json');
    expect((JSON.parse(again.out) as Report).changes).toEqual([]);
  });

  it('opens an export with its own key only, and names what is missing', async () => {
    const closed = await run('svc import dev.json -e prod --yes');
    expect([closed.exitCode, closed.err]).toEqual([
      1,
      'The file is encrypted: open it with --private-key\n',
    ]);
    await run('openssl genpkey -algorithm X25519 -out other.pem');
    const other = await run('svc import dev.json --private-key other.pem -e prod --yes');
    expect(other.err).toContain('other.pem is not the key that opens the file');
    const file = JSON.parse(readFileSync(join(root, 'dev.json'), 'utf8')) as {
      connections: { sealed: string }[];
    };
    const [first, second] = file.connections;
    [first!.sealed, second!.sealed] = [second!.sealed, first!.sealed];
    writeFileSync(join(root, 'swapped.json'), JSON.stringify(file));
    const swapped = await run(
      'svc import swapped.json --private-key export.pem -e prod --dry-run --json',
    );
    const { problems } = JSON.parse(swapped.out) as Report;
    const ofConnections = problems.filter(({ kind }) => kind === 'connections');
    expect(ofConnections).toMatchObject([
      { code: 'source_failed', message: 'its sealed part belongs to another entry' },
      { code: 'source_failed', message: 'its sealed part belongs to another entry' },
    ]);
  });
});
