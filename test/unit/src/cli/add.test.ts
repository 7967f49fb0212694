import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { commandLine } from '#test/support/processes/command-line.ts';
import { functionsProject, type FunctionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

let project: FunctionsProject;
beforeEach(() => {
  project = functionsProject({});
});
afterEach(() => project[Symbol.dispose]());

async function svc(args: readonly string[], answers?: readonly string[]) {
  const sandbox = await sharedSandbox();
  const { root } = project;
  return commandLine(args, { root, sandbox, ...(answers === undefined ? {} : { answers }) });
}

const textOf = (path: string): string => readFileSync(join(project.root, path), 'utf8');
const manifest = () =>
  JSON.parse(textOf('package.json')) as {
    svc: { integrations: Record<string, string>; templates: Record<string, object> };
  };

describe('svc add', () => {
  it('copies a template with its imports, fixture and test, and the project compiles', async () => {
    const added = await svc(['add', 'hubspot/contacts']);
    expect(added).toMatchObject({
      exitCode: 0,
      out: 'Added hubspot/syncs/contacts.ts (7 files)\n',
    });
    for (const file of [
      'hubspot/syncs/contacts.ts',
      'hubspot/contact.ts',
      'hubspot/objects.ts',
      'hubspot/fixtures/contacts.json',
      'hubspot/tests/contacts.test.ts',
      'models/crm.ts',
      'shared/since.ts',
      'vite.config.ts',
    ])
      expect(existsSync(join(project.root, file)), file).toBe(true);
    expect(textOf('index.ts')).toBe("import './hubspot/syncs/contacts.js';\n");
    expect(manifest().svc.integrations).toEqual({ hubspot: 'hubspot' });
    expect(added.err).toContain('Scopes: crm.objects.contacts.read');
    const compiled = await svc(['compile', '--no-dependency-update']);
    expect(compiled.exitCode, compiled.err).toBe(0);
  });

  it('uses the key of an integration, and the files that another template brought', async () => {
    await svc(['add', 'hubspot/contacts']);
    const added = await svc(['add', 'hubspot/create-contact', '--integration', 'hubspot-eu']);
    expect(added.exitCode, added.err).toBe(0);
    expect(existsSync(join(project.root, 'hubspot-eu/actions/create-contact.ts'))).toBe(true);
    expect(manifest().svc.integrations).toEqual({ hubspot: 'hubspot', 'hubspot-eu': 'hubspot' });
    const other = await svc(['add', 'jira/projects', '-i', 'jira']);
    expect(other.exitCode, other.err).toBe(0);
    expect((await svc(['add', 'github/issues'])).err).toContain('2 files there already');
  });

  it('overwrites nothing, and names what exists', async () => {
    await svc(['add', 'jira/projects']);
    writeFileSync(join(project.root, 'jira/syncs/projects.ts'), '// mine\n');
    const again = await svc(['add', 'jira/projects']);
    expect(again.exitCode).toBe(1);
    expect(again.err).toContain('jira/syncs/projects.ts exists already, and is not changed.');
    expect(textOf('jira/syncs/projects.ts')).toBe('// mine\n');
    writeFileSync(join(project.root, 'models/ticketing.ts'), `${textOf('models/ticketing.ts')}\n`);
    const other = await svc(['add', 'github/issues']);
    expect(other.err).toContain('models/ticketing.ts exists and differs: it is not changed');
  });

  it('shows the lines that differ from the template', async () => {
    await svc(['add', 'jira/projects']);
    expect((await svc(['add', '--update'])).out).toContain('as in this version');
    const text = textOf('jira/syncs/projects.ts');
    writeFileSync(
      join(project.root, 'jira/syncs/projects.ts'),
      text.replace('every 6 hours', 'every day'),
    );
    const { out } = await svc(['add', '--update', 'jira/projects']);
    expect(out).toContain('jira/syncs/projects.ts  (changed here alone)');
    expect(out).toContain("  -   frequency: 'every day',\n  +   frequency: 'every 6 hours',");
  });

  it('lists templates, and searches them in a terminal', async () => {
    const listed = await svc(['add', '--list', 'hubspot', '--json']);
    const names = (JSON.parse(listed.out) as { name: string }[]).map(({ name }) => name);
    expect(names).toContain('contacts');
    const chosen = await svc(['add'], ['nothing like that', 'hubspot creates', '1']);
    expect(chosen.err).toContain('No template matches "nothing like that".');
    expect(chosen.out).toContain('Added hubspot/actions/create-contact.ts');
    expect((await svc(['add'])).err).toContain('Name a template');
    expect((await svc(['add', 'hubspt/contacts'])).err).toContain('No template of "hubspt".');
    expect((await svc(['add', 'hubspot/contact'])).err).toContain('hubspot/contacts');
  });
});
