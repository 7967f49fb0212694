import { relative, resolve } from 'node:path';
import { counted } from '#kernel/counted.ts';
import { printable } from '#kernel/printable.ts';
import { defineCommand } from '../command.ts';

export const migrate = defineCommand({
  name: 'migrate',
  usage: '',
  summary: 'Move a project of functions of another package to svc',
  about: `Reads a project of functions that are defined with createSync, createAction and createOnEvent of another package, and
writes a project of svc: imports, types of the handle, names of fields and headers are rewritten, files keep their
folders. It shows a plan, and writes with --write only. What a person has to look at is listed with file and line.
Run it again at any time: files that were changed in the new project are kept.`,
  words: { 'functions <folder>': 'the functions in the folder' },
  options: {
    to: ['--to <folder>', 'folder of the new project (the current one)'],
    package: ['--package <name>', 'the package that the functions import, where it is not clear'],
    write: ['--write', 'write the files'],
    force: ['--force', 'replace files that exist with other content'],
    json: ['--json', 'the plan as JSON on stdout'],
  },
  help: `Exit codes
  0 done   1 failed

Examples
  svc migrate functions ../old-functions --to ./functions
  svc migrate functions ../old-functions --to ./functions --write && cd functions && svc compile`,

  async run({ positionals, values }, { root, output }) {
    // TypeScript's parser loads slowly.
    const { planMigration } = await import('../migrate/migrate.ts');
    const target = resolve(root, values.to ?? '.');
    const { packageName, moves, manual, write } = planMigration({
      source: resolve(root, positionals[0] ?? ''),
      target,
      packageName: values.package,
      mayReplace: values.force === true,
    });
    if (values.write === true) write();
    if (values.json === true) {
      output.result(
        JSON.stringify({ package: packageName, written: values.write === true, moves, manual }),
      );
      return;
    }
    const folder = relative(root, target) || '.';
    output.result(`Functions of ${printable(packageName)} → ${printable(folder)}`);
    for (const { file, outcome, edits } of moves) {
      const places = edits === 0 ? '' : ` (${counted(edits, 'edit')})`;
      output.result(`  ${outcome.padEnd(9)}  ${printable(file)}${places}`);
    }
    if (manual.length > 0) output.result('\nTo do by hand');
    for (const { file, line, message } of manual) {
      output.result(
        `  ${printable(file)}${line === null ? '' : `:${line}`}  ${printable(message)}`,
      );
    }
    if (moves.some(({ outcome }) => outcome === 'kept')) {
      output.note('Kept files exist with other content: --force replaces them');
    }
    output.note(
      values.write === true
        ? `Next: svc compile, in ${folder}`
        : 'Nothing was written: --write does',
    );
  },
});
