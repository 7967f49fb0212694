/** Commits that changed behavior together with a test, and that can be undone alone. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export interface Commit {
  readonly id: string;
  readonly subject: string;
  /** Test files of the push suite that the commit changed, by their present paths. */
  readonly tests: readonly string[];
  /** Undoes what the commit changed in the product, in the files of today; for `git apply`. */
  readonly patch: string;
}

/** Commits that move, rename or tidy: undoing them changes no behavior, so that no test can find it. */
const tidying =
  /\b(move|rename|split|merge|extract|share|format|simplify|tidy|inline|name|one (place|line)|of (their|its) own|apart|by one helper|bench|benchmark|typings?|types|comment|document)\b|^(test|lint|docs|bench):/i;
const sourceFilesMax = 8;
const changedLinesMax = 200;
const product = ['src', 'streams'];
const isPushed = (file: string): boolean =>
  /^test\/(unit|contract|simulation|golden|api|e2e|browser)\/.*\.test\.ts$/.test(file) &&
  !/\.(kafka|redis|registry|services)\.test\.ts$/.test(file);

/** The candidates, newest first. @param root of the repository, with its whole history */
export function undoable(root: string): readonly Commit[] {
  using history = new History(root);
  const log = history.git('log', '--no-merges', '--no-renames', '--format=%x00%H %s', '--numstat');
  return log
    .split('\0')
    .slice(1)
    .flatMap((entry) => candidate(history, entry));
}

function candidate(history: History, entry: string): Commit[] {
  const [head = '', ...lines] = entry.trim().split('\n');
  const id = head.slice(0, 40);
  const subject = head.slice(41);
  const changes = lines.filter((line) => line !== '').map((line) => line.split('\t'));
  const source = changes.filter(([, , file = '']) => /^(src|streams)\/.*\.tsx?$/.test(file));
  const size = source.reduce((sum, [added, removed]) => sum + Number(added) + Number(removed), 0);
  const isSmall = source.length > 0 && source.length <= sourceFilesMax && size <= changedLinesMax;
  if (!isSmall || tidying.test(subject)) return [];
  const tests = history.presentTests(id).filter(isPushed);
  if (tests.length === 0) return [];
  const patch = history.undoing(id);
  // What is left of a fix, after later changes of the same place, is not the fix.
  const isWhole = patch !== null && 2 * changedLines(patch) >= size;
  return isWhole ? [{ id, subject, tests, patch }] : [];
}

const changedLines = (patch: string): number => patch.match(/^[+-](?![+-]{2} )/gm)?.length ?? 0;

/** The commits of a repository. What is made here is stored in a folder of its own, and removed with it. */
class History implements Disposable {
  readonly #root: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #objects = mkdtempSync(join(tmpdir(), 'svc-undone-'));

  constructor(root: string) {
    this.#root = root;
    const nobody = { GIT_AUTHOR_NAME: 'undo', GIT_AUTHOR_EMAIL: 'undo@localhost' };
    const committer = { GIT_COMMITTER_NAME: 'undo', GIT_COMMITTER_EMAIL: 'undo@localhost' };
    this.#env = { ...process.env, ...nobody, ...committer };
    const objects = resolve(root, this.git('rev-parse', '--git-path', 'objects').trim());
    this.#env['GIT_ALTERNATE_OBJECT_DIRECTORIES'] = objects;
    this.#env['GIT_OBJECT_DIRECTORY'] = this.#objects;
  }

  [Symbol.dispose](): void {
    rmSync(this.#objects, { recursive: true });
  }

  /** @throws Error with what git says */
  git(...args: string[]): string {
    const { status, stdout, stderr } = this.#run(args);
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** The tests that the commit changed or added, where they lie now. */
  presentTests(id: string): readonly string[] {
    const changed = this.git('diff', '--name-only', '--diff-filter=AM', `${id}~`, id, '--', 'test');
    const moved = ['diff', '--name-status', '-M', '--diff-filter=DR', id, 'HEAD', '--', 'test'];
    const moves = this.git(...moved)
      .split('\n')
      .map((line) => line.split('\t'));
    const present = new Map(moves.map(([, from = '', to]) => [from, to]));
    return changed
      .split('\n')
      .map((file) => (present.has(file) ? (present.get(file) ?? '') : file));
  }

  /**
   * What undoes the commit in the product's files of today, also where they have moved since: a merge of today's tree
   * with the one before the commit, whose common ancestor is the commit. Null when the two changed the same lines, or
   * when nothing is left to undo.
   */
  undoing(id: string): string | null {
    const base = this.#commit(`${id}^{tree}`);
    const [today, before] = [
      this.#commit('HEAD^{tree}', base),
      this.#commit(`${id}~^{tree}`, base),
    ];
    const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', today, before];
    // Its status says whether there were conflicts.
    const [tree = '', ...conflicts] = this.#run(args).stdout.trim().split('\n');
    if (conflicts.some((file) => /^(src|streams)\//.test(file))) return null;
    return this.git('diff', 'HEAD', tree, '--', ...product) || null;
  }

  #commit(tree: string, ...parents: string[]): string {
    const from = parents.flatMap((parent) => ['-p', parent]);
    return this.git('commit-tree', tree, ...from, '-m', 'undo').trim();
  }

  #run(args: readonly string[]) {
    const maxBuffer = 256 * 1024 ** 2;
    return spawnSync('git', args, { cwd: this.#root, encoding: 'utf8', env: this.#env, maxBuffer });
  }
}
