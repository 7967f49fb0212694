import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as client from '#client/index.ts';
import { run } from '#test/services/commands.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(repository, 'docs/client.md'), 'utf8');
const source = readFileSync(join(repository, 'src/client/index.ts'), 'utf8');

let folder: string;
let gateway: RunningGateway;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-client-page-'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(repository, join(folder, 'node_modules/svc'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  gateway = await startGateway({});
  const credentials = { type: 'API_KEY', apiKey: 'demo' };
  expect((await gateway.call('POST', '/demo')).status).toBe(200);
  const connection = { provider_config_key: 'demo-key', connection_id: 'me', credentials };
  expect((await gateway.call('POST', '/connections', { body: connection })).status).toBe(201);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('the page of the client', () => {
  it('names everything that the package exports', () => {
    const types = [...source.matchAll(/^ {2}type (\w+),$/gm)].map(([, name = '']) => name);
    const names = [...Object.keys(client), ...types, 'ServerEvent', 'TypedClient', 'RecordOf'];
    expect(names.length).toBeGreaterThan(25);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  it('has programs that compile and run as they stand', async () => {
    const headers = { 'provider-config-key': 'demo-key', 'connection-id': 'me' };
    const count = async () => {
      const answer = await gateway.call('GET', '/records?model=Contact&limit=1000', { headers });
      return (answer.body as { records?: unknown[] }).records?.length;
    };
    await expect.poll(count).toBe(250);
    const blocks = [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map(([, block = '']) => block);
    const program = blocks.join('\n').replaceAll('http://127.0.0.1:3003', gateway.url);
    writeFileSync(join(folder, 'program.ts'), program);
    const env = { ...process.env, SVC_SECRET_KEY_DEV: gateway.key, SVC_HOSTPORT: gateway.url };
    const command = join(repository, 'dist/src/cli/main.js');
    await run(process.execPath, [command, 'generate:client', '-e', 'dev'], { cwd: folder, env });
    const compiler = join(repository, 'node_modules/typescript-native/bin/tsc');
    const rules = '--noEmit --strict --skipLibCheck --allowImportingTsExtensions --types node';
    const shape = '--target es2023 --module nodenext --moduleResolution nodenext';
    const roots = ['--typeRoots', join(repository, 'node_modules/@types')];
    const options = [...rules.split(' '), ...shape.split(' '), ...roots];
    await run(process.execPath, [compiler, ...options, 'program.ts'], { cwd: folder });
    const printed = await run(process.execPath, ['program.ts'], { cwd: folder, env });
    expect(printed).toContain('demo-key me');
    expect(printed).toContain('Ada Lovelace');
    expect(printed).toContain('unknown_connection');
    // The renamed one may be read a second time, as it is modified meanwhile.
    expect(printed).toMatch(/contacts: 25[01]/);
    // None after the signal has aborted.
    expect(printed.match(/^\S+ record \{/gm)).toHaveLength(1);
    // The demo limits the rate now and then.
    expect(printed).toMatch(/^(200|429) /m);
  });
});
