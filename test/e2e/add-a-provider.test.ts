import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(repository, 'docs/add-a-provider.md'), 'utf8');
const [template = '', withKey = ''] = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].map(
  ([, block = '']) => block,
);
const [, command = ''] = /^```sh\nsvc (.+)\n```/m.exec(page) ?? [];
const file = command.split(' ').at(-1) ?? '';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-add-a-provider-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function play(definitions: string, args = command.split(' ')) {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), definitions);
  const program = join(repository, 'dist/src/cli/main.js');
  return spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8' });
}

it('plays the template of the page, and prints what the page shows', () => {
  const [, shown = ''] = /^```text\n([^]*?)^```/m.exec(page) ?? [];
  const { stdout, stderr, status } = play(template);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toBe(shown);
});

it('plays an API with a key, and marks what the definition leaves out', () => {
  const { stdout, status } = play(withKey, [...command.split(' '), '--json']);
  expect(status).toBe(0);
  const { entries, problems } = JSON.parse(stdout) as { entries: object[]; problems: string[] };
  expect(problems).toEqual([]);
  expect(entries).toMatchObject([
    { name: 'acme-forms', steps: { verify: 'passed', refresh: 'undeclared', limit: 'undeclared' } },
  ]);
});

it('says in words which step fails, and why', () => {
  const broken = template.replace('limit_name_in_request: limit', 'limit: 50');
  const { stdout, stderr, status } = play(broken);
  expect(status).toBe(4);
  expect(stdout).toContain(
    'acme-crm, paginate: Error: The pagination of type cursor needs limit_name',
  );
  expect(stderr).toBe('A step failed.\n');
});

it('lists the mistakes of a file that cannot be used', () => {
  const { stderr, status } = play(template.replace('response_path', 'responsePath'));
  expect(status).toBe(1);
  expect(stderr).toContain('acme-crm.proxy.paginate.responsePath: unknown field');
});
