/**
 * `npm run examples:record`: runs each function of `examples/integrations` on a gateway with played providers,
 * keeps what it asked for and did as its mocks, and writes the tests that replay them.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  examplesFolder,
  openExampleWorld,
  pathOf,
  recordings,
} from '#test/support/worlds/example-world.ts';

const repository = fileURLToPath(new URL('..', import.meta.url));
const world = await openExampleWorld();
for (const { file, args } of recordings) {
  const ended = await world.svc(['dryrun', file, 'demo', '-e', 'dev', '--save', ...args]);
  if (ended.exitCode !== 0) throw new Error(`${file}: ${ended.err}`);
  const path = join(examplesFolder, pathOf(file));
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, world.mocksOf(file));
  console.log(`Saved ${pathOf(file)}`);
}
const generated = await world.svc(['generate:tests', '--auto-confirm']);
if (generated.exitCode !== 0) throw new Error(generated.err);
for (const line of generated.out.trim().split('\n')) {
  const path = line.replace(/^Wrote /, '');
  cpSync(join(world.root, path), join(examplesFolder, path));
}
await world[Symbol.asyncDispose]();
execFileSync('npx', ['oxfmt', examplesFolder], {
  cwd: repository,
  stdio: 'inherit',
});
