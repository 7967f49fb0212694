/**
 * `npm run templates [-- <provider>[/<function>] …]`: plays every situation of the templates against the fakes of their
 * providers, and prints one row for each: compiled, situations, seconds. Exits 1 when one has failed.
 */
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { buildPrograms } from '#bin/build.ts';
import { situations } from '#cli/testing/situations.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';

const root = fileURLToPath(new URL('../templates', import.meta.url));
const kinds: Readonly<Record<string, FunctionKind>> = {
  syncs: 'sync',
  actions: 'action',
  'on-events': 'on-event',
};

interface PlayedTemplate {
  readonly template: string;
  readonly passed: readonly string[];
  readonly failed: readonly { readonly situation: string; readonly reason: string }[];
  readonly seconds: number;
}

async function play(file: string): Promise<PlayedTemplate> {
  const [provider = '', folder = '', functionFile = ''] = file.split('/');
  const name = basename(functionFile, '.ts');
  const kind = kinds[folder] ?? 'sync';
  const testUrl = pathToFileURL(join(root, provider, 'tests', `${name}.test.ts`)).href;
  const started = performance.now();
  const passed: string[] = [];
  const failed: { situation: string; reason: string }[] = [];
  try {
    for (const situation of situations(testUrl, { kind, name })) {
      const begun = performance.now();
      try {
        await situation.play();
        passed.push(`${situation.name} ${((performance.now() - begun) / 1000).toFixed(1)} s`);
      } catch (error) {
        failed.push({ situation: situation.name, reason: (error as Error).message });
      }
    }
  } catch (error) {
    failed.push({ situation: 'fixture', reason: (error as Error).message });
  }
  const seconds = (performance.now() - started) / 1000;
  return { template: `${provider}/${name}`, passed, failed, seconds };
}

const chosen = process.argv.slice(2);
const isChosen = (file: string): boolean => {
  const [provider = '', , name = ''] = file.split('/');
  const template = `${provider}/${basename(name, '.ts')}`;
  return chosen.length === 0 || chosen.includes(provider) || chosen.includes(template);
};

await buildPrograms();
const files = globSync('*/{syncs,actions,on-events}/*.ts', { cwd: root }).filter(isChosen).sort();
const played: PlayedTemplate[] = [];
for (const file of files) {
  const outcome = await play(file);
  played.push(outcome);
  const { template, passed, failed, seconds } = outcome;
  console.log(`${template}: ${passed.join(', ')} (${seconds.toFixed(1)} s)`);
  for (const { situation, reason } of failed) console.log(`  FAILED ${situation}: ${reason}`);
}
const failures = played.filter(({ failed }) => failed.length > 0);
console.log(`${played.length} templates, ${failures.length} with failures`);
process.exit(failures.length === 0 ? 0 : 1);
