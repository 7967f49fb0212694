import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from '../context.ts';
import { usageError } from '../exit.ts';
import { docsText } from '../generate/docs.ts';
import { parseCommand } from '../options.ts';
import { requireProject } from '../project.ts';
import { compileStep } from './compile.ts';

export const generateDocs: Command = {
  name: 'generate:docs',
  usage: '',
  summary: 'Write a page about each function',
  help: `Compiles the project and writes one Markdown file for each function, beside it or in a folder. Only the
block between <!-- svc:begin --> and <!-- svc:end --> is generated: other text is kept.

Options
  -p, --path <folder>   write <folder>/<integration>/<kind>s/<name>.md

Examples
  svc generate:docs
  svc generate:docs --path docs`,

  async run(args, context) {
    const { values, positionals } = parseCommand(args, { path: { type: 'string', short: 'p' } });
    if (positionals.length > 0) {
      throw usageError('generate:docs takes no arguments');
    }
    const { root, output } = context;
    requireProject(root);
    await using sandbox = await context.openSandbox();
    const { functions } = await compileStep(context, values, sandbox);
    const folder = values.path === undefined ? root : resolve(root, values.path);
    for (const fn of functions) {
      const file = fn.entry.file.replace(/\.ts$/, '.md');
      const path = join(folder, file);
      const before = existsSync(path) ? readFileSync(path, 'utf8') : null;
      const text = docsText(fn, before);
      if (text === before) continue;
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, text);
      output.result(`Wrote ${values.path === undefined ? file : join(values.path, file)}`);
    }
  },
};
