/* oxlint-disable typescript/no-unsafe-assignment -- expect.any() is anything */
import { expect, it } from 'vitest';
import type { RunFailure } from '#ports/sandbox.ts';
import { presentFailure } from '#rules/failure-detail.ts';
import { withoutSourceMap } from '#rules/inline-source-map.ts';
import { locateFailure } from '#rules/locate-failure.ts';
import { sourcesOf, withSourcesRenamed } from '#rules/source-map.ts';
import { compile } from '#test/support/worlds/compile.ts';
import { actionText, functionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';
import { runBundle } from '../adapters/sandbox/guest.ts';

const helper = `// A comment moves the lines.
interface Contact { name?: string }

export function initial(contact: Contact): string {
  const name = contact.name as string;
  return name.trim().charAt(0);
}
`;
const entryText = actionText(
  `await svc.log('first');
    try {
      initial({});
    } catch (cause) {
      throw new Error('No initial', { cause });
    }`,
  `import { initial } from '../initial.js';\n`,
);

const sandbox = await sharedSandbox();

async function compiled(): Promise<string> {
  using project = functionsProject({
    'index.ts': `import './crm/actions/first.js';\n`,
    'crm/actions/first.ts': entryText,
    'crm/initial.ts': helper,
  });
  const { functions } = await compile(project, sandbox);
  return functions[0]!.bundle;
}
const bundle = await compiled();

async function failureOf(text: string): Promise<RunFailure> {
  const result = await runBundle(sandbox, text, { input: {} });
  if (result.status !== 'error') throw new Error('the function did not fail');
  return result.error;
}

const entry = { file: 'crm/actions/first.ts', source: entryText };
const fileName = 'crm/function.cjs';
const lineOf = (text: string, part: string): number =>
  text.slice(0, text.indexOf(part)).split('\n').length;

it('a failure of the code has the lines of its source, and so have its causes', async () => {
  const failure = await failureOf(bundle);
  const detail = locateFailure(failure, { bundle, fileName, entry });
  const thrownAt = lineOf(entryText, 'throw new');
  expect(detail.frames[0]).toMatchObject({ file: entry.file, line: thrownAt });
  expect(detail.excerpt?.lines[thrownAt - detail.excerpt.line]).toContain(`new Error('No initial'`);
  expect(detail.causes).toMatchObject([
    {
      name: 'TypeError',
      message: expect.stringContaining('undefined'),
      location: `crm/initial.ts:${lineOf(helper, 'return name')}:15`,
    },
  ]);
  const shown = presentFailure(detail);
  expect(shown.location).toMatch(/^crm\/actions\/first\.ts:\d+:\d+$/);
  expect(shown.causes[0]?.location).toMatch(/^crm\/initial\.ts:6:\d+$/);
});

it('the code that runs has no source map', () => {
  expect(bundle).toContain('sourceMappingURL');
  const code = withoutSourceMap(bundle);
  expect(code).not.toContain('sourceMappingURL');
  expect(bundle.startsWith(code)).toBe(true);
  expect(withoutSourceMap(code)).toBe(code);
  // A text of the function that only looks like one.
  const said = `const text = \`\n//# sourceMappingURL=data:application/json;base64,e30=\n\`;\nmore();\n`;
  expect(withoutSourceMap(said)).toBe(said);
});

it('a bundle of an earlier release has lines, and an excerpt of its entry alone', async () => {
  const [, map = ''] = /base64,(\S+)/.exec(bundle) ?? [];
  const { sourcesContent: _, ...payload } = JSON.parse(Buffer.from(map, 'base64').toString()) as {
    sourcesContent: unknown;
  };
  const older = bundle.replace(map, Buffer.from(JSON.stringify(payload)).toString('base64'));
  const failure = await failureOf(older);
  const detail = locateFailure(failure, { bundle: older, fileName, entry });
  expect(detail.frames[0]).toMatchObject({ file: entry.file });
  expect(detail.excerpt?.lines.join('\n')).toContain('No initial');
  const unknown = { ...entry, source: '' };
  expect(locateFailure(failure, { bundle: older, fileName, entry: unknown }).excerpt).toBeNull();
});

it.each([
  ['none', withoutSourceMap(bundle)],
  [
    'an unreadable one',
    `${withoutSourceMap(bundle)}//# sourceMappingURL=data:application/json;base64,?`,
  ],
  [
    'one of another form',
    `${withoutSourceMap(bundle)}//# sourceMappingURL=data:application/json;base64,W10=`,
  ],
])('a bundle with %s for a source map shows its own lines', async (_, text) => {
  const failure = await failureOf(text);
  const detail = locateFailure(failure, { bundle: text, fileName, entry });
  expect(detail.frames[0]).toMatchObject({ file: fileName, line: expect.any(Number) });
  expect(detail.excerpt).toBeNull();
});

it('a file of a bundle gets another name', () => {
  const renamed = withSourcesRenamed(bundle, (file) =>
    file.replace('crm/initial.ts', 'lib/initial.ts'),
  );
  expect(sourcesOf(renamed)?.linesOf('lib/initial.ts')?.[0]).toBe('// A comment moves the lines.');
  expect(sourcesOf(renamed)?.linesOf('crm/initial.ts')).toBeNull();
});

it.each([
  ['too much time', { kind: 'timeout', code: 'execution_timeout' }, 'exec:'],
  ['too much memory', { kind: 'memory', code: 'function_runtime_out_of_memory' }, 'exec:'],
  ['an input', { kind: 'invalid', code: 'invalid_action_input' }, 'input:'],
  ['an output', { kind: 'invalid', code: 'invalid_action_output' }, 'output:'],
] as const)('%s without a stack has the part of the definition', (_what, failed, part) => {
  const failure: RunFailure = { ...failed, name: 'Error', message: 'x' };
  const detail = locateFailure(failure, { bundle, fileName, entry });
  const line = lineOf(entryText, part);
  expect(presentFailure(detail).location).toBe(`${entry.file}:${line}:3`);
  expect(detail.excerpt?.lines[line - detail.excerpt.line]).toContain(part);
  const elsewhere = { bundle, fileName, entry, called: 'onWebhook' } as const;
  const { frames } = locateFailure({ ...failure, kind: 'timeout' }, elsewhere);
  expect(frames).toEqual([]);
});

it('a stack that the code made up gives no more than positions in its own files', () => {
  const stack = [
    `    at exec (/etc/passwd:1:1)`,
    `    at ${'x'.repeat(5_000)} (${fileName}:1:1)`,
    `    at exec (${fileName}:999999999:999999999)`,
    `    at exec (${fileName}:-1:x)`,
  ].join('\n');
  const made = { kind: 'error', name: 'Error', message: 'x', stack } as const;
  const { frames } = locateFailure(made, { bundle, fileName, entry });
  for (const { file, function: name } of frames) {
    expect(['crm/initial.ts', 'crm/actions/first.ts']).toContain(file);
    expect(name?.length ?? 0).toBeLessThanOrEqual(100);
  }
});
