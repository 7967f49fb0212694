import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { defineCommand } from '../command.ts';
import { docsText } from '../generate/docs.ts';
import { requireProject } from '../project.ts';
import { compileStep } from './compile.ts';

export const generateDocs = defineCommand({
  name: 'generate:docs',
  usage: '',
  summary: 'Write a page about each function',
  about: `Compiles the project and writes one Markdown file for each function, beside it or in a folder. Only the
block between <!-- svc:begin --> and <!-- svc:end --> is generated: other text is kept.`,
  options: {
    path: ['-p, --path <folder>', 'write <folder>/<integration>/<kind>s/<name>.md'],
  },
  help: `Examples
  svc generate:docs
  svc generate:docs --path docs`,

  async run({ values }, context) {
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
});
