import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEntries, type Entry } from '#cli/compiler/entries.ts';
import { CompileError } from '#cli/compiler/problem.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';

const files = {
  'crm/syncs/contacts.ts': '',
  'crm/actions/contacts.ts': '',
  'my.mail/on-events/hello.ts': '',
  'crm/helper.ts': '',
};

function entriesOf(index: string): Entry[] {
  using project = functionsProject({ ...files, 'index.ts': index });
  return readEntries(project.root);
}

function refusalOf(index: string): string[] {
  try {
    entriesOf(index);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return error.problems.map(({ file, line, message }) => `${file}:${line} ${message}`);
  }
  return [];
}

describe('index.ts', () => {
  it('names functions in its order, by either spelling, and nothing in comments', () => {
    const entries = entriesOf(`// import './crm/syncs/old.js';
import "./my.mail/on-events/hello";
/* import './crm/syncs/older.js'; */
import './crm/syncs/contacts.js';
import './crm/actions/contacts.ts';
import './crm/syncs/contacts.js';
import { readFileSync } from 'node:fs';
`);
    expect(entries.map(({ integrationKey, kind, name }) => [integrationKey, kind, name])).toEqual([
      ['my.mail', 'on-event', 'hello'],
      ['crm', 'sync', 'contacts'],
      ['crm', 'action', 'contacts'],
    ]);
    expect(entries.map(({ bundleName }) => bundleName)).toEqual([
      'my.mail_on-events_hello',
      'crm_syncs_contacts',
      'crm_actions_contacts',
    ]);
  });

  it.each([
    ['nothing', '', ['index.ts:1 No entry points found in index.ts']],
    [
      'a file that is not there',
      "import './crm/syncs/gone.js';",
      ["index.ts:1 Could not find './crm/syncs/gone.js'"],
    ],
    [
      'a file out of the project',
      "\nimport '../crm/syncs/contacts.js';",
      ["index.ts:2 '../crm/syncs/contacts.js' is outside the project"],
    ],
    [
      'a helper',
      "import './crm/helper.js';",
      [
        "index.ts:1 './crm/helper.js' is not inside an integration folder: expected ./<integration>/<syncs|actions|on-events|on-changes>/<name> or ./projections/<name>",
      ],
    ],
  ])('is refused with %s', (_what, index, problems) => {
    expect(refusalOf(index)).toEqual(problems);
  });

  it('is refused when two files would be the same function', () => {
    using project = functionsProject({
      'crm/syncs/contacts.ts': '',
      'crm/syncs/old/contacts.ts': '',
      'crm/syncs/other/contacts.ts': '',
    });
    expect(() => readEntries(project.root)).toThrow(
      expect.objectContaining({
        problems: [
          expect.objectContaining({
            line: 2,
            message:
              'The sync "contacts" of "crm" is defined multiple times, also in crm/syncs/contacts.ts',
          }),
          expect.objectContaining({ line: 3 }),
        ],
      }),
    );
  });

  it('is refused when it cannot be read', () => {
    using project = functionsProject(files);
    rmSync(join(project.root, 'index.ts'));
    expect(() => readEntries(project.root)).toThrow(
      expect.objectContaining({
        problems: [{ file: 'index.ts', line: 1, message: 'Could not read index.ts' }],
      }),
    );
  });
});
