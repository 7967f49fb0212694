import { join, relative } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Problem } from '#cli/compiler/problem.ts';
import { compile, problemsOf, type Rejection } from '#test/support/worlds/compile.ts';
import { actionText, functionsProject, syncText } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const sandbox = await sharedSandbox();

/** Lines of `exec` in `syncText` and `actionText` begin here. */
const execLine = 9;

const byText: readonly Rejection[] = [
  [
    'a type error',
    'a/actions/types.ts',
    actionText('const text: string = 1;\n  await svc.log(text);'),
    execLine,
    /Type 'number' is not assignable to type 'string'/,
  ],
  [
    'an unused local',
    'a/actions/unused.ts',
    actionText('const unused = 1;\n  await svc.log(1);'),
    execLine,
    /'unused' is declared but its value is never read/,
  ],
  [
    'a package that the sandbox lacks',
    'a/actions/lodash.ts',
    actionText('await svc.log(lodash);', "import lodash from 'lodash';"),
    3,
    /^Import of package 'lodash' is not allowed\. Allowed packages are: svc, zod, crypto/,
  ],
  [
    'a package that opens sockets, with the reason',
    'a/actions/soap.ts',
    actionText('await svc.log(soap);', "import * as soap from 'soap';"),
    3,
    /^Import of package 'soap' is not allowed\. It opens connections itself/,
  ],
  [
    'a builtin module that the sandbox lacks',
    'a/actions/fs.ts',
    actionText(
      "await svc.log(readFileSync('/etc/passwd'));",
      "import { readFileSync } from 'node:fs';",
    ),
    3,
    /^Import of package 'node:fs' is not allowed/,
  ],
  [
    'a relative import of nothing',
    'a/actions/nothing.ts',
    actionText('await svc.log(help);', "import { help } from './nowhere.js';"),
    3,
    /^Could not resolve '\.\/nowhere\.js'/,
  ],
  [
    'no default export',
    'a/actions/none.ts',
    'export type Nothing = string;\n',
    1,
    /^Invalid default export: should be createSync\(\), createAction\(\), createOnEvent\(\), createOnChange\(\) or createProjection\(\)$/,
  ],
  [
    'a default export not made by create…',
    'a/actions/plain.ts',
    "export default { type: 'action' };\n",
    1,
    /^Invalid default export/,
  ],
  [
    'a look-alike of create…',
    'a/actions/alike.ts',
    'const createAction = (options: object) => options;\n\nexport default createAction({});\n',
    3,
    /^Invalid default export/,
  ],
  [
    'a parameter that is no object literal',
    'a/actions/parameter.ts',
    `import { createAction } from 'svc';
import { z } from 'zod';
const options = { description: 'x', input: z.void(), output: z.void(), exec: () => undefined };
export default createAction(options);
`,
    4,
    /^Invalid function parameter, should be an object$/,
  ],
  [
    'a named export of a value',
    'a/actions/named.ts',
    actionText('await svc.log(1);', 'export const helper = 1;'),
    3,
    /^Named export 'helper' is not allowed$/,
  ],
  [
    'an export list with a value',
    'a/actions/listed.ts',
    `${actionText('await svc.log(helper);', 'const helper = 1;')}export { helper };\n`,
    14,
    /^Named export 'helper' is not allowed$/,
  ],
  [
    'a call that nobody awaits',
    'a/syncs/dropped.ts',
    syncText("svc.batchSave([], 'Item');"),
    execLine,
    /^svc\.batchSave\(\) calls must be awaited$/,
  ],
  [
    'a dropped call of a handle by another name',
    'a/actions/renamed.ts',
    actionText('void client.get({ endpoint: "/" });').replace('(svc)', '(client)'),
    execLine,
    /^svc\.get\(\) calls must be awaited$/,
  ],
  [
    'retryOn without retries',
    'a/actions/retry.ts',
    actionText("await svc.get({ endpoint: '/', retryOn: [404] });"),
    execLine,
    /^'retryOn' should not be used if 'retries' is not set$/,
  ],
  [
    'the end of a delete pass without its start',
    'a/syncs/end-only.ts',
    syncText("await svc.trackDeletesEnd('Item');"),
    execLine,
    /^trackDeletesEnd\(\) needs trackDeletesStart\(\)/,
  ],
  [
    'the start of a delete pass without its end',
    'a/syncs/start-only.ts',
    syncText("await svc.trackDeletesStart('Item');"),
    execLine,
    /^trackDeletesStart\(\) needs trackDeletesEnd\(\)/,
  ],
  [
    'two starts of a delete pass',
    'a/syncs/two-starts.ts',
    syncText(
      "await svc.trackDeletesStart('Item');\nawait svc.trackDeletesStart('Item');\nawait svc.trackDeletesEnd('Item');",
    ),
    execLine + 1,
    /^trackDeletesStart\(\) is called twice/,
  ],
  [
    'two ends of a delete pass',
    'a/syncs/two-ends.ts',
    syncText(
      "await svc.trackDeletesStart('Item');\nawait svc.trackDeletesEnd('Item');\nawait svc.trackDeletesEnd('Item');",
    ),
    execLine + 2,
    /^trackDeletesEnd\(\) is called twice/,
  ],
  [
    'a delete pass that ends before it starts',
    'a/syncs/reversed.ts',
    syncText("await svc.trackDeletesEnd('Item');\nawait svc.trackDeletesStart('Item');"),
    execLine,
    /^trackDeletesEnd\(\) comes before trackDeletesStart\(\)/,
  ],
  [
    'a save before the start of the delete pass',
    'a/syncs/early.ts',
    syncText(
      "await svc.batchSave([], 'Item');\nawait svc.trackDeletesStart('Item');\nawait svc.trackDeletesEnd('Item');",
    ),
    execLine,
    /^batchSave\(\) of 'Item' comes before trackDeletesStart\(\)/,
  ],
  [
    'a save after the end of the delete pass',
    'a/syncs/late.ts',
    syncText(
      "await svc.trackDeletesStart('Item');\nawait svc.trackDeletesEnd('Item');\nawait svc.batchSave([], 'Item');",
    ),
    execLine + 2,
    /^batchSave\(\) of 'Item' comes after trackDeletesEnd\(\)/,
  ],
  [
    'a merging strategy after a request',
    'a/syncs/merging.ts',
    syncText(
      "await svc.get({ endpoint: '/' });\nawait svc.setMergingStrategy({ strategy: 'override' }, 'Item');",
    ),
    execLine + 1,
    /^setMergingStrategy\(\) must come before any HTTP or batch call$/,
  ],
  [
    'a save after deleting what earlier runs saved',
    'a/syncs/previous.ts',
    syncText(
      "await svc.deleteRecordsFromPreviousExecutions('Item');\nawait svc.batchSave([], 'Item');",
    ),
    execLine + 1,
    /^batchSave\(\) of 'Item' comes after deleteRecordsFromPreviousExecutions\(\)/,
  ],
  [
    'deleting twice what earlier runs saved',
    'a/syncs/previous-twice.ts',
    syncText(
      "await svc.deleteRecordsFromPreviousExecutions('Item');\nawait svc.deleteRecordsFromPreviousExecutions('Item');",
    ),
    execLine + 1,
    /^deleteRecordsFromPreviousExecutions\(\) is called twice/,
  ],
  [
    '§2.4 a sync in the folder of actions',
    'a/actions/misplaced.ts',
    syncText("await svc.batchSave([], 'Item');"),
    4,
    /^This is a definition of kind sync, but its folder is for action$/,
  ],
  [
    'an event that does not exist',
    'a/on-events/unknown.ts',
    `import { createOnEvent } from 'svc';
export default createOnEvent({
  description: 'x',
  event: 'pre-birth',
  exec: async (svc) => {
    await svc.log(1);
  },
});
`,
    4,
    /"pre-birth"/,
  ],
];

const helper = `import type { SvcAction } from 'svc';

export async function save(api: SvcAction): Promise<void> {
  api.setMetadata({});
  await Promise.all([api.get({ endpoint: '/' }), api.log('both')]);
}
`;

describe('what the text of a project may not say', () => {
  let problems: readonly Problem[];
  beforeAll(async () => {
    const files = Object.fromEntries(byText.map(([, file, source]) => [file, source]));
    const uses = actionText('await save(svc);', "import { save } from '../helper.js';");
    const more = { 'a/helper.ts': helper, 'a/actions/uses-helper.ts': uses };
    problems = await problemsOf({ ...files, ...more }, sandbox);
  });

  it.each(byText)('refuses %s: %s', (_what, file, _source, line, message) => {
    const own = problems.filter((problem) => problem.file === file);
    expect(own).toContainEqual(
      expect.objectContaining({ line, message: expect.stringMatching(message) as string }),
    );
  });

  it('refuses a dropped call in a helper, whatever the handle is called there', () => {
    const own = problems.filter(({ file }) => file === 'a/helper.ts');
    expect(own).toEqual([
      {
        file: 'a/helper.ts',
        line: 4,
        column: 3,
        length: 19,
        message: 'svc.setMetadata() calls must be awaited',
      },
    ]);
  });

  it('refuses a relative import of a file outside the project', async () => {
    using outside = functionsProject({ 'secret.json': '{}' });
    using project = functionsProject({ 'a/actions/outside.ts': '' });
    const path = relative(join(project.root, 'a/actions'), join(outside.root, 'secret.json'));
    const before = `import secret from '${path}';`;
    project.write({ 'a/actions/outside.ts': actionText('await svc.log(secret);', before) });
    await expect(compile(project, sandbox)).rejects.toMatchObject({
      problems: [{ line: 3, message: `Import of '${path}' leaves the project` }],
    });
  });

  it('refuses an installed package that is named by its path', async () => {
    const before = "import { left } from '../../node_modules/pad/index.js';";
    const files = {
      'a/actions/by-path.ts': actionText('await svc.log(left);', before),
      'node_modules/pad/index.js': 'export const left = 1;',
      'node_modules/pad/index.d.ts': 'export declare const left: number;',
    };
    expect(await problemsOf(files, sandbox)).toMatchObject([
      { line: 3, message: expect.stringContaining('is not allowed') as string },
    ]);
  });

  it('says each problem once', () => {
    const lodash = problems.filter(({ file }) => file === 'a/actions/lodash.ts');
    expect(lodash).toHaveLength(1);
  });
});
