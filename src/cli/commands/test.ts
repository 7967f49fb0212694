import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { defineCommand } from '../command.ts';
import { stopOnInterrupt } from '../context.ts';
import { CommandFailure } from '../exit.ts';
import { requireProject } from '../project.ts';
import { runNode } from '../run-program.ts';

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
