import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTemplateProject, type TemplateProject } from '#test/support/worlds/project-world.ts';

let world: TemplateProject;
beforeAll(async () => {
  world = await openTemplateProject(['github/issues', 'slack/send-message']);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
});

const svc = (line: string) => world.svc(line.split(' '));
const read = (file: string): string => readFileSync(join(world.root, file), 'utf8');

describe('svc generate:docs', () => {
  it('writes a page about each function and keeps what stands around it', async () => {
    const first = await svc('generate:docs');
    expect(first).toMatchObject({ exitCode: 0 });
    const page = read('github/syncs/issues.md');
    expect(page).toContain('# issues\n\nIssues of a repository');
    expect(page).toContain('| Runs | every 30 minutes |');
    expect(page).toContain('## Model Ticket\n\n| Field | Type | Needed |');
    expect(page).toContain('| `description` | string or null | yes |');
    expect(page).toContain('## Metadata\n\n');
    writeFileSync(
      join(world.root, 'github/syncs/issues.md'),
      `Mine.\n\n${page.replace('every 30', 'every 99')}`,
    );
    const again = await svc('generate:docs');
    expect(again.out).toBe('Wrote github/syncs/issues.md\n');
    expect(read('github/syncs/issues.md')).toBe(`Mine.\n\n${page}`);
    await svc('generate:docs --path docs');
    expect(existsSync(join(world.root, 'docs/slack/actions/send-message.md'))).toBe(true);
  });
});

describe('svc generate:tests', () => {
  it('writes a test of each function with saved responses, and leaves another configuration alone', async () => {
    const input = ['--input', '{"channel_id":"C1","text":"It works"}'];
    for (const [name, ...args] of [['issues'], ['send-message', ...input]] as const) {
      const saved = await world.svc(['dryrun', name, 'demo', '-e', 'dev', '--save', ...args]);
      expect(saved, saved.err).toMatchObject({ exitCode: 0 });
    }
    const test = 'github/tests/github-issues.test.ts';
    for (const file of ['vite.config.ts', 'vitest.setup.ts']) rmSync(join(world.root, file));
    const all = await svc('generate:tests --integration github');
    expect(all.out).toBe(`Wrote ${test}\nWrote vite.config.ts\nWrote vitest.setup.ts\n`);
    expect(read(test)).toContain("replay(import.meta.url, { kind: 'sync', name: 'issues' })");
    writeFileSync(join(world.root, 'vite.config.ts'), '// mine\n');
    const again = await svc('generate:tests --sync issues');
    expect(again.err).toContain('vite.config.ts is unchanged');
    expect(read('vite.config.ts')).toBe('// mine\n');
    const action = await svc('generate:tests --action send-message --auto-confirm');
    expect(action.out).toContain('Wrote slack/tests/slack-send-message.test.ts\n');
    expect(read('vite.config.ts')).toContain('vitest/config');
    expect(await svc('generate:tests --integration none')).toMatchObject({ exitCode: 0, out: '' });
  });
});
