import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox, type WarmableSandbox } from '#adapters/sandbox/sandbox.ts';
import { mapChanges } from '#modules/operations/custom-projections/map-changes.ts';
import { columnsOf } from '#rules/projection-columns.ts';
import { compile, problemsOf } from '#test/support/worlds/compile.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';

let sandbox: WarmableSandbox;
beforeAll(async () => {
  sandbox = await openSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const templates = new URL('../../../../../templates/', import.meta.url);
const template = (path: string): string => readFileSync(new URL(path, templates), 'utf8');

const example = `import { createProjection } from 'svc';
import { z } from 'zod';
import type { Contact } from '../models/crm.js';

export default createProjection({
  description: 'Contacts of all CRMs, one row for each address.',
  version: '1.0.0',
  from: { models: ['Contact'] },
  row: z.object({
    email: z.string(),
    name: z.string().nullable(),
    job_title: z.string().nullable(),
    crm: z.string(),
    changed_at: z.iso.datetime({ offset: true }),
  }),
  key: ['email'],
  map: ({ integration, record, last_modified_at }) => {
    const { emails, first_name, last_name, job_title } = record as Contact;
    const name = [first_name, last_name].filter((part) => part !== null).join(' ');
    return emails.map((email) => ({
      email: email.toLowerCase(),
      name: name === '' ? null : name,
      job_title,
      crm: integration,
      changed_at: last_modified_at,
    }));
  },
});
`;

/** The mapping of a template from a document of its provider to the common model. */
async function commonContact(file: string, document: object): Promise<object> {
  const module = (await import(new URL(file, templates).href)) as {
    contactOf: (document: object) => object;
  };
  return module.contactOf(document);
}

const changeOf = (integration: string, record: object): string =>
  JSON.stringify({
    action: 'added',
    integration,
    connection_id: 'c-1',
    model: 'Contact',
    variant: 'base',
    record_id: 'r-1',
    first_seen_at: '2026-01-01T00:00:00.000000+00:00',
    last_modified_at: '2026-01-02T00:00:00.000000+00:00',
    record,
  });

const projection = (options: string): Record<string, string> => ({
  'projections/contacts.ts': `import { createProjection } from 'svc';
import { z } from 'zod';

export default createProjection({
  description: 'Contacts',
  from: { models: ['Contact'] },
  ${options}
});
`,
  'index.ts': "import './projections/contacts.js';\n",
});

describe('a projection of a project', () => {
  it('maps the common model of two templates into one table', async () => {
    using project = functionsProject({
      'models/crm.ts': template('models/crm.ts'),
      'projections/contacts.ts': example,
      'index.ts': "import './projections/contacts.js';\n",
    });
    const { projections, functions } = await compile(project, sandbox);
    expect(functions).toEqual([]);
    const [compiled] = projections;
    const definition = compiled?.definition.projection;
    if (compiled === undefined || definition == null) throw new Error('no projection');
    expect(columnsOf(definition)).toEqual({
      columns: [
        { name: 'email', type: 'String' },
        { name: 'name', type: 'Nullable(String)' },
        { name: 'job_title', type: 'Nullable(String)' },
        { name: 'crm', type: 'String' },
        { name: 'changed_at', type: "DateTime64(6, 'UTC')" },
      ],
      problems: [],
    });
    const hubspot = await commonContact('hubspot/contact.ts', {
      id: '1',
      properties: { email: 'Ada@example.com', firstname: 'Ada', jobtitle: 'Analyst' },
      createdAt: '2026-01-01T00:00:00Z',
      updatedAt: '2026-01-01T00:00:00Z',
    });
    const pipedrive = await commonContact('pipedrive/person.ts', {
      id: 2,
      name: 'Grace',
      first_name: 'Grace',
      last_name: 'Hopper',
      emails: [{ value: 'g@example.com' }, { value: 'grace@example.com', primary: true }],
    });
    const mapped = await mapChanges(
      sandbox,
      { bundle: compiled.bundle, fileName: 'contacts.cjs' },
      [changeOf('hubspot', hubspot), changeOf('pipedrive', pipedrive)],
      new AbortController().signal,
    );
    const at = '2026-01-02T00:00:00.000000+00:00';
    expect(mapped).toEqual([
      {
        values: JSON.stringify([['ada@example.com'], ['Ada'], ['Analyst'], ['hubspot'], [at]]),
      },
      {
        values: JSON.stringify([
          ['grace@example.com', 'g@example.com'],
          ['Grace Hopper', 'Grace Hopper'],
          [null, null],
          ['pipedrive', 'pipedrive'],
          [at, at],
        ]),
      },
    ]);
  });

  it.each([
    ['an object', 'address: z.object({ city: z.string() })', 'The column "address" has no type'],
    ['any value', 'raw: z.any()', 'The column "raw" has no type'],
    ['a name that is no column', "'a b': z.string()", '"a b" cannot be a column'],
  ])('is refused for %s', async (_what, field, message) => {
    const files = projection(`row: z.object({ ${field} }),\n  map: () => null,`);
    const [problem] = await problemsOf(files, sandbox);
    expect(problem).toMatchObject({ file: 'projections/contacts.ts', line: 7 });
    expect(problem?.message).toContain(message);
  });

  it('is refused for a key that is no column', async () => {
    const files = projection(
      "row: z.object({ id: z.string() }),\n  key: ['id', 'mail' as 'id'],\n  map: () => null,",
    );
    const [problem] = await problemsOf(files, sandbox);
    expect(problem?.message).toContain('key names "mail"');
  });
});

const code = (map: string) => ({
  fileName: 'p.cjs',
  bundle: `const { createProjection } = require('svc'); const { z } = require('zod');
    module.exports = createProjection({ description: '', from: { models: ['Contact'] },
      row: z.object({ id: z.string() }), map: (change) => ${map} });`,
});
const map = (body: string, changes: readonly object[]) =>
  mapChanges(
    sandbox,
    code(body),
    changes.map((one) => JSON.stringify(one)),
    new AbortController().signal,
  );

describe('a mapping', () => {
  it('fails for its own change alone, also by rows that do not fit', async () => {
    const body = `change.n === 1 ? { id: 1 } : change.n === 2 ? Promise.resolve() : { id: String(change.n) }`;
    const mapped = await map(body, [{ n: 0 }, { n: 1 }, { n: 2 }, { n: 3 }]);
    expect(mapped).toEqual([
      { values: '[["0"]]' },
      { error: expect.stringContaining('The row does not fit: id:') as string },
      { error: expect.stringContaining('The row does not fit: id:') as string },
      { values: '[["3"]]' },
    ]);
  });

  it('that does not end for a change costs no other change', async () => {
    const body = `{ while (change.n === 2); return { id: String(change.n) }; }`;
    const mapped = await map(
      body,
      [0, 1, 2, 3].map((n) => ({ n })),
    );
    expect(mapped.map((one) => 'error' in one)).toEqual([false, false, true, false]);
  }, 60_000);

  it('reaches nothing outside', async () => {
    const [mapped] = await map(`{ fetch('http://localhost'); return { id: '1' }; }`, [{ n: 0 }]);
    expect(mapped).toHaveProperty('error');
  });
});
