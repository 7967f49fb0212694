import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, dirname } from 'node:path';
import { defineCommand, type Options } from '../command.ts';
import type { Entry } from '../compiler/entries.ts';
import { CompileError } from '../compiler/problem.ts';
import { mayPrompt, type Context, stopOnInterrupt } from '../context.ts';
import { alignTestRunner } from '../dependencies.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { mocksPath } from '../mocks/mocks.ts';
import { testConfiguration, testPath, testText } from '../mocks/test-files.ts';
import { requireProject } from '../project.ts';
import { runNode } from '../run-program.ts';
import { prepareProject } from './compile.ts';

const options = {
  integration: ['-i, --integration <id>', 'only this integration'],
  sync: ['-s, --sync <name>', 'only this sync'],
  action: ['-a, --action <name>', 'only this action'],
} as const satisfies Options;

export const generateTests = defineCommand({
  name: 'generate:tests',
  usage: '',
  summary: 'Write tests that replay saved mocks',
  about: `Writes <integration>/tests/<integration>-<name>.test.ts for every function with mocks
saved by svc dryrun --save, and the configuration of vitest. A function runs in the sandbox; its requests
get the saved responses.`,
  options,
  help: `Examples
  svc generate:tests
  svc generate:tests --integration crm --sync contacts`,

  async run({ values }, context) {
    const { root, output } = context;
    requireProject(root);
    prepareProject(context, values);
    const entries = (await entriesOf(root)).filter((entry) => isSelected(entry, values));
    const tested = entries.filter((entry) => hasMocks(root, entry));
    if (tested.length === 0) {
      output.note('No saved mocks: create some with svc dryrun <function> <connection> --save');
      return;
    }
    for (const entry of tested) {
      const path = testPath(entry);
      writeFileSync(join(root, path), testText(entry));
      output.result(`Wrote ${path}`);
    }
    await writeConfiguration(context, values['auto-confirm'] === true, values.interactive);
    const mayUpdate = values['dependency-update'] !== false && context.environment.dependencyUpdate;
    alignTestRunner(root, { mayUpdate: mayUpdate && !context.environment.isCi, output });
  },
});

async function entriesOf(root: string): Promise<Entry[]> {
  const { readEntries } = await import('../compiler/entries.ts');
  try {
    return readEntries(root);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    throw new CommandFailure(error.problems.map(({ message }) => message).join('\n'), {
      exitCode: exitCodes.compileFailed,
    });
  }
}

function isSelected(
  entry: Entry,
  { integration, sync, action }: { integration?: string; sync?: string; action?: string },
): boolean {
  if (integration !== undefined && entry.integrationKey !== integration) return false;
  if (sync === undefined && action === undefined) return true;
  return entry.kind === 'sync'
    ? entry.name === sync
    : entry.kind === 'action' && entry.name === action;
}

/** Creates missing files; replaces a differing one only after confirmation. */
async function writeConfiguration(
  context: Context,
  isAgreed: boolean,
  interactive: boolean | undefined,
): Promise<void> {
  const { root, output } = context;
  for (const [file, text] of Object.entries(testConfiguration)) {
    const path = join(root, file);
    const isThere = existsSync(path);
    if (isThere && readFileSync(path, 'utf8') === text) continue;
    const asks = isThere && !isAgreed;
    if (asks && !mayPrompt(context, interactive)) {
      output.note(`${file} is unchanged: --auto-confirm replaces it`);
      continue;
    }
    if (asks && !/^y(es)?$/i.test(await context.prompt(`Replace ${file} y/n? `))) continue;
    writeFileSync(path, text);
    output.result(`Wrote ${file}`);
  }
}

export const test = defineCommand({
  name: 'test',
  usage: '[files...]',
  summary: 'Run the tests of the project',
  about: `Runs the project's vitest on the Node of this program, which the sandbox of functions needs: the tests run
whatever Node is on the PATH. Words choose the test files whose path contains one of them.`,
  options: { watch: ['--watch', 'run again when a file has changed, until Ctrl-C'] },
  help: `Exit codes
  0 every test passed   1 a test failed, or vitest is not installed

Examples
  svc test
  svc test crm-contacts`,

  async run({ positionals, values }, context) {
    const { root } = context;
    requireProject(root);
    using stopping = stopOnInterrupt(context);
    const mode = values.watch === true ? 'watch' : 'run';
    const code = await runNode(root, [runner(root), mode, ...positionals], {
      signal: stopping.signal,
    });
    if (code !== 0) throw new CommandFailure('Not all tests passed.');
  },
});

/** The script of the project's vitest. @throws CommandFailure */
function runner(root: string): string {
  try {
    const manifest = createRequire(join(root, 'package.json')).resolve('vitest/package.json');
    return join(dirname(manifest), 'vitest.mjs');
  } catch {
    throw new CommandFailure('vitest is not installed: svc generate:tests adds it to the project.');
  }
}

const hasMocks = (root: string, { integrationKey, name }: Entry): boolean =>
  existsSync(join(root, mocksPath(integrationKey, name)));
