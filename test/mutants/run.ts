/**
 * `npm run test:mutants [-- --only=planted|history] [--count=10]`: plants one defect at a time in a copy of the
 * repository and runs the tests of the push suite that are to find it. Planted defects are listed in `planted.ts`;
 * the others undo commits of the project's own history, drawn by a seed: their own tests have to turn red.
 * Exits 0 only when each defect was found.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { seeded, seedOfRun } from '../support/random.ts';
import { undoable, type Commit } from './history.ts';
import { planted } from './planted.ts';

/** One defect: what plants it, and the test files that have to find it. */
interface Mutant {
  readonly name: string;
  readonly tests: readonly string[];
  readonly plant: (copy: string) => void;
}

const { values: options } = parseArgs({
  options: { only: { type: 'string' }, count: { type: 'string', default: '10' } },
});
const root = fileURLToPath(new URL('../..', import.meta.url));
const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', args, { cwd, encoding: 'utf8', maxBuffer: 256 * 1024 ** 2 });

const byHand: readonly Mutant[] = planted.map(({ name, file, from, to, tests }) => ({
  name,
  tests,
  plant(copy) {
    const path = join(copy, file);
    const text = readFileSync(path, 'utf8');
    const parts = text.split(from);
    if (parts.length !== 2)
      throw new Error(`${name}: ${file} has the text ${parts.length - 1} times`);
    writeFileSync(path, parts.join(to));
  },
}));

const undoing = ({ id, subject, tests }: Commit): Mutant => ({
  name: `undo ${id.slice(0, 7)} ${subject}`,
  tests,
  plant(copy) {
    const patch = git(root, 'diff', `${id}~`, id, '--', 'src', 'streams');
    execFileSync('git', ['apply', '--reverse', '-'], { cwd: copy, input: patch });
  },
});

function drawn(count: number): readonly Mutant[] {
  const seed = seedOfRun();
  console.log(`SVC_TEST_SEED=${seed}`);
  const random = seeded(seed);
  const left = [...undoable(root)];
  console.log(`${left.length} commits can be undone by themselves`);
  const chosen: Commit[] = [];
  while (chosen.length < count && left.length > 0)
    chosen.push(...left.splice(random.int(left.length), 1));
  return chosen.map(undoing);
}

const isSystem = (test: string): boolean => /^test\/(api|e2e)\//.test(test);

/** The first line that names what failed; null when every test passed. @throws Error when a test could not run */
function foundBy(copy: string, tests: readonly string[]): string | null {
  // Their numbers of workers differ: vitest runs one of the projects at a time.
  const projects = {
    fast: tests.filter((test) => !isSystem(test)),
    system: tests.filter(isSystem),
  };
  for (const [project, files] of Object.entries(projects)) {
    if (files.length === 0) continue;
    const args = ['run', '--project', project, '--bail=1', ...files];
    const { status, stdout, stderr } = spawnSync('vitest', args, {
      cwd: copy,
      encoding: 'utf8',
      env: { ...process.env, NO_COLOR: '1', CI: 'true' },
      maxBuffer: 256 * 1024 ** 2,
    });
    if (status === 0) continue;
    const line = `${stdout}\n${stderr}`.split('\n').find((one) => one.includes(' FAIL '));
    if (line === undefined)
      throw new Error(`vitest ended without a failed test:\n${stdout}${stderr}`);
    return line.replace(/^.* FAIL\s+/, '');
  }
  return null;
}

const copy = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
let survived = 0;
try {
  git(root, 'worktree', 'add', '--quiet', '--detach', copy, 'HEAD');
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const fromHistory = options.only === 'planted' ? [] : drawn(Number(options.count));
  const chosen = [...fromHistory, ...(options.only === 'history' ? [] : byHand)];
  for (const { name, tests, plant } of chosen) {
    plant(copy);
    const found = foundBy(copy, tests);
    if (found === null) survived += 1;
    console.log(
      `${found === null ? 'SURVIVED' : 'found   '}  ${name}\n          ${found ?? tests.join(' ')}`,
    );
    git(copy, 'checkout', '--quiet', '--', '.');
    git(copy, 'clean', '--quiet', '--force', '-d', '--exclude=node_modules');
  }
  console.log(`\n${chosen.length - survived} of ${chosen.length} defects found`);
} finally {
  git(root, 'worktree', 'remove', '--force', copy);
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survived === 0 ? 0 : 1;
