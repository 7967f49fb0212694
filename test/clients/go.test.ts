import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from '#test/services/commands.ts';
import { openClient, openEnvironment, printed, programOf, type ClientFolder } from './program.ts';

let client: ClientFolder;
let folder: string;

beforeAll(async () => {
  client = await openClient('go');
  folder = join(client.folder, 'program');
  await mkdir(folder);
  await writeFile(join(folder, 'main.go'), await programOf('go'));
  await go('mod', 'init', 'example.com/program');
  const module = 'example.com/svc/client';
  await go('mod', 'edit', '-require', `${module}@v0.0.0`, '-replace', `${module}=../go`);
  await go('mod', 'tidy');
});
afterAll(() => client[Symbol.asyncDispose]());

const go = (...args: string[]) => run('go', args, { cwd: folder });

describe('the generated client for Go', () => {
  it('passes go vet, and so does the program of docs/clients.md', async () => {
    await run('go', ['vet', './...'], { cwd: client.client });
    await go('vet', './...');
    expect(await run('gofmt', ['-l', '.'], { cwd: folder })).toBe('');
  });

  it('connects, syncs, verifies a webhook and reads every page', async () => {
    await go('build', '-o', 'program', '.');
    const env = { ...process.env, ...(await openEnvironment()) };
    expect(await run(join(folder, 'program'), [], { env })).toBe(printed);
  });
});
