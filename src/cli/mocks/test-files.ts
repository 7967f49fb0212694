import type { Entry } from '../compiler/entries.ts';

type TestedFunction = Pick<Entry, 'integrationKey' | 'kind' | 'name'>;

/** Path of the test of a function within its project. */
export const testPath = ({ integrationKey, name }: Omit<TestedFunction, 'kind'>): string =>
  `${integrationKey}/tests/${integrationKey}-${name}.test.ts`;

/** The test that replays a function's saved mocks. */
export function testText(entry: TestedFunction): string {
  return `import { replay } from 'svc/testing';
import { expect, it } from 'vitest';

it('${entry.integrationKey} ${entry.name} does what was saved', async () => {
  const run = await replay(import.meta.url, { kind: '${entry.kind}', name: '${entry.name}' });
  expect(run.failure).toBeNull();
${expectations[entry.kind]}});
`;
}

const records = `  expect(run.batchSave).toEqual(run.mocks.svc.batchSave);
  expect(run.batchUpdate).toEqual(run.mocks.svc.batchUpdate);
  expect(run.batchDelete).toEqual(run.mocks.svc.batchDelete);
`;

const expectations = {
  sync: records,
  action: '  expect(run.output).toEqual(run.mocks.output);\n',
  'on-event': '',
  'on-change': '',
} as const;

/** Configuration files for running the tests, by path; created when missing. */
export const testConfiguration: Readonly<Record<string, string>> = {
  'vite.config.ts': `import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['*/tests/*.test.ts'],
    setupFiles: ['./vitest.setup.ts'],
    // One process for all: the sandbox is opened once.
    isolate: false,
    fileParallelism: false,
  },
});
`,
  'vitest.setup.ts': `import { vi } from 'vitest';

// The first test waits for the sandbox.
vi.setConfig({ testTimeout: 60_000 });
`,
};
