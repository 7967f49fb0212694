import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openTerminal } from '#test/support/processes/terminal.ts';
import { actionText, functionsProject } from '#test/support/worlds/functions-project.ts';

const color = '\u001b[';
const clearLine = '\r\u001b[K';
const files = { 'crm/actions/greet.ts': actionText("    await svc.log('hello');") };

describe('svc in a terminal', () => {
  it('asks for what is missing, and takes the answers', async () => {
    using project = functionsProject(files);
    await using terminal = openTerminal(['create'], { cwd: project.root });
    await terminal.shows('Kind (sync, action, on-event or on-change): ');
    terminal.type('sync\r');
    await terminal.shows('Integration: ');
    terminal.type('crm\r');
    await terminal.shows('Name of the function: ');
    terminal.type('contacts\r');
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toContain('Created crm/syncs/contacts.ts');
    expect(readFileSync(join(project.root, 'index.ts'), 'utf8')).toContain(
      './crm/syncs/contacts.js',
    );
  });

  it('shows progress on one line, and errors in color with their place', async () => {
    using project = functionsProject({
      'crm/actions/greet.ts': 'const n: string = 1;\nexport default n;\n',
    });
    await using terminal = openTerminal(['compile', '--no-dependency-update'], {
      cwd: project.root,
    });
    expect(await terminal.exited).toBe(10);
    expect(terminal.shown).toContain(`Typechecking${clearLine}`);
    expect(terminal.shown).toContain(`${color}31merr - crm/actions/greet.ts:1:7`);
    expect(terminal.shown).toContain(`${color}90m  1 | const n: string = 1;`);
  });

  it('asks nothing with --no-interactive or in CI', async () => {
    using project = functionsProject(files);
    for (const [more, env] of [
      [['--no-interactive'], {}],
      [[], { CI: '1' }],
    ] as const) {
      const options = { cwd: project.root, env };
      await using terminal = openTerminal(['create', ...more], options);
      expect(await terminal.exited).toBe(1);
      expect(terminal.shown).toContain('Missing: Kind');
    }
  });

  it('ends a question with Ctrl-C and has done nothing', async () => {
    using project = functionsProject(files);
    await using terminal = openTerminal(['create', 'crm', 'contacts'], { cwd: project.root });
    await terminal.shows('Kind (sync, action, on-event or on-change): ');
    terminal.type('\x03');
    expect(await terminal.exited).toBe(130);
    expect(existsSync(join(project.root, 'crm/syncs'))).toBe(false);
  });

  it('watches until Ctrl-C, which is the end that dev has', async () => {
    using project = functionsProject(files);
    const args = ['dev', '--no-deploy', '--no-dependency-update'];
    await using terminal = openTerminal(args, { cwd: project.root });
    await terminal.shows('no error');
    project.write({ 'crm/actions/greet.ts': 'export default 1;\n' });
    await terminal.shows('Invalid default export');
    terminal.type('\x03');
    expect(await terminal.exited, terminal.shown).toBe(0);
  });

  it('shows its help, on a terminal as in a pipe', async () => {
    using project = functionsProject(files);
    await using terminal = openTerminal(['dryrun', '--help'], { cwd: project.root });
    expect(await terminal.exited).toBe(0);
    expect(terminal.shown).toContain('svc dryrun [options] [function] [connection]\r\n');
    expect(terminal.shown).toContain('Examples\r\n  svc dryrun contacts acme -e dev');
  });
});
