/**
 * `npm run test:mutants [-- --only=planted|history] [--count=10]`: plants one defect at a time in a copy of the
 * repository and runs the tests that are to find it; where they do not, the whole push suite. Planted defects are listed
 * in `planted.ts`; the others undo commits of the project's own history, drawn by a seed: the tests of the commit have to
 * turn red. What no longer compiles without its commit says nothing about tests, and another is drawn. Exits 0 only when
 * each defect was found.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
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

const undoing = ({ id, subject, tests, patch }: Commit): Mutant => ({
  name: `undo ${id.slice(0, 7)} ${subject}`,
  tests,
  plant: (copy) => void execFileSync('git', ['apply', '-'], { cwd: copy, input: patch }),
});

function drawn(copy: string, count: number): readonly Mutant[] {
  const seed = seedOfRun();
  console.log(`SVC_TEST_SEED=${seed}`);
  const random = seeded(seed);
  const left = [...undoable(root)];
  console.log(`${left.length} commits can be undone by themselves`);
  const chosen: Mutant[] = [];
  while (chosen.length < count && left.length > 0) {
    const mutants = left.splice(random.int(left.length), 1).map(undoing);
    for (const mutant of mutants) {
      mutant.plant(copy);
      if (compiles(copy)) chosen.push(mutant);
      else console.log(`does not compile: ${mutant.name}`);
      restore(copy);
    }
  }
  if (chosen.length < count) throw new Error(`only ${chosen.length} commits can be undone`);
  return chosen;
}

const compiles = (copy: string): boolean =>
  spawnSync('npm', ['run', '--silent', 'types'], { cwd: copy }).status === 0;

function restore(copy: string): void {
  git(copy, 'checkout', '--quiet', '--', '.');
  git(copy, 'clean', '--quiet', '--force', '-d', '--exclude=node_modules');
}

const attemptsMax = 2;
const projects = {
  fast: (test: string): boolean => !/^test\/(api|e2e|browser)\//.test(test),
  system: (test: string): boolean => /^test\/(api|e2e)\/(?!.*\.browser\.)/.test(test),
  browser: (test: string): boolean => /^test\/browser\/|\.browser\.test\.ts$/.test(test),
};

/**
 * The first line that names what failed, of these tests or else of the whole push suite; null when every test passed.
 * @throws Error when a test could not run
 */
function foundBy(copy: string, tests: readonly string[]): string | null {
  // Their numbers of workers differ: vitest runs one of the projects at a time.
  for (const [project, isOf] of Object.entries(projects)) {
    const files = tests.filter(isOf);
    const found = files.length === 0 ? null : failureIn(copy, project, files);
    if (found !== null) return found;
  }
  console.log(`missed by ${tests.join(' ')}: all tests are run`);
  for (const project of Object.keys(projects)) {
    const found = failureIn(copy, project, []);
    if (found !== null) return `not by its own tests: ${found}`;
  }
  return null;
}

/** @param files none: all of the project */
function failureIn(copy: string, project: string, files: readonly string[]): string | null {
  const args = ['run', '--project', project, '--bail=1', ...files];
  const env = { ...process.env, NO_COLOR: '1', CI: 'true' };
  let output = '';
  // A worker that crashes fails no test.
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const options = { cwd: copy, encoding: 'utf8', env, maxBuffer: 256 * 1024 ** 2 } as const;
    const { status, stdout, stderr } = spawnSync('vitest', args, options);
    if (status === 0) return null;
    output = `${stdout}\n${stderr}`;
    const line = output.split('\n').find((one) => one.includes(' FAIL '));
    if (line !== undefined) return line.replace(/^.* FAIL\s+/, '');
  }
  throw new Error(`vitest ended without a failed test:\n${output}`);
}

const copy = mkdtempSync(join(tmpdir(), 'svc-mutants-'));
let survived = 0;
try {
  git(root, 'worktree', 'add', '--quiet', '--detach', copy, 'HEAD');
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  const fromHistory = options.only === 'planted' ? [] : drawn(copy, Number(options.count));
  const chosen = [...fromHistory, ...(options.only === 'history' ? [] : byHand)];
  for (const { name, tests, plant } of chosen) {
    plant(copy);
    const found = foundBy(copy, tests);
    if (found === null) survived += 1;
    console.log(
      `${found === null ? 'SURVIVED' : 'found   '}  ${name}\n          ${found ?? tests.join(' ')}`,
    );
    restore(copy);
  }
  console.log(`\n${chosen.length - survived} of ${chosen.length} defects found`);
} finally {
  git(root, 'worktree', 'remove', '--force', copy);
  rmSync(copy, { recursive: true, force: true });
}
process.exitCode = survived === 0 ? 0 : 1;
