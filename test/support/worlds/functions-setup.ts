import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledVariable, compileFunctions } from './deploy.ts';

/** Before a project's tests: compiles the functions that the worlds of its files deploy. */
export default async function setup(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-functions-'));
  const file = join(folder, 'bundle.json');
  await writeFile(file, JSON.stringify(await compileFunctions()));
  process.env[compiledVariable] = file;
  return () => rm(folder, { recursive: true });
}
