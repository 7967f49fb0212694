import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A project of functions in a folder of its own, removed when disposed. */
export interface FunctionsProject extends Disposable {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): void;
}

/** `index.ts` names every file of a kind's folder unless it is given. */
export function functionsProject(files: Readonly<Record<string, string>>): FunctionsProject {
  const root = mkdtempSync(join(tmpdir(), 'svc-project-'));
  const write = (all: Readonly<Record<string, string>>): void => {
    for (const [file, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), text);
    }
  };
  const entries = Object.keys(files).filter((file) =>
    /(\/(syncs|actions|on-events|on-changes)|^projections)\//.test(file),
  );
  write({
    '.svc/.gitkeep': '',
    'package.json': '{ "private": true, "type": "module" }',
    'index.ts': entries.map((file) => `import './${file.replace(/\.ts$/, '.js')}';\n`).join(''),
    ...files,
  });
  return { root, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

/** The text of a sync; `exec` is the body of its function, `options` go before it. */
export function syncText(
  exec: string,
  options: { readonly model?: string; readonly more?: string; readonly before?: string } = {},
): string {
  const { model = 'Item', more = "frequency: 'every hour',", before = '' } = options;
  return `import { createSync } from 'svc';
import { z } from 'zod';
${before}
const sync = createSync({
  description: 'A sync',
  models: { ${model}: z.object({ id: z.string() }) },
  ${more}
  exec: async (svc) => {
${exec}
  },
});

export default sync;
`;
}

/** The text of an action without input. */
export function actionText(exec: string, before = ''): string {
  return `import { createAction } from 'svc';
import { z } from 'zod';
${before}
const action = createAction({
  description: 'An action',
  input: z.void(),
  output: z.void(),
  exec: async (svc) => {
${exec}
  },
});

export default action;
`;
}
