import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand, type Options } from '../command.ts';
import type { Entry } from '../compiler/entries.ts';
import { CompileError } from '../compiler/problem.ts';
import { mayPrompt, type Context } from '../context.ts';
import { alignTestRunner } from '../dependencies.ts';
import { CommandFailure, exitCodes } from '../exit.ts';
import { hasMocks, testConfiguration, testPath, testText } from '../generate/tests.ts';
import { requireProject } from '../project.ts';
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
