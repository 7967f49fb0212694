/** Commits that changed behavior together with a test, and that can be undone alone. */
import { execFileSync, spawnSync } from 'node:child_process';

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
  const git = gitIn(root);
  const log = git('log', '--no-merges', '--no-renames', '--format=%x00%H %s', '--numstat');
  return log
    .split('\0')
    .slice(1)
    .flatMap((entry) => candidate(root, entry));
}

function candidate(root: string, entry: string): Commit[] {
  const [head = '', ...lines] = entry.trim().split('\n');
  const id = head.slice(0, 40);
  const subject = head.slice(41);
  const changes = lines.filter((line) => line !== '').map((line) => line.split('\t'));
  const source = changes.filter(([, , file = '']) => /^(src|streams)\/.*\.tsx?$/.test(file));
  const size = source.reduce((sum, [added, removed]) => sum + Number(added) + Number(removed), 0);
  const isSmall = source.length > 0 && source.length <= sourceFilesMax && size <= changedLinesMax;
  if (!isSmall || tidying.test(subject)) return [];
  const tests = presentTests(root, id);
  if (tests.length === 0) return [];
  const patch = undoing(root, id);
  // What is left of a fix, after later changes of the same place, is not the fix.
  const isWhole = patch !== null && 2 * changedLines(patch) >= size;
  return isWhole ? [{ id, subject, tests, patch }] : [];
}

const changedLines = (patch: string): number => patch.match(/^[+-](?![+-]{2} )/gm)?.length ?? 0;

/** The tests that the commit changed or added, where they lie now. */
function presentTests(root: string, id: string): readonly string[] {
  const git = gitIn(root);
  const changed = git('diff', '--name-only', '--diff-filter=AM', `${id}~`, id, '--', 'test');
  const moves = git('diff', '--name-status', '-M', '--diff-filter=DR', id, 'HEAD', '--', 'test')
    .split('\n')
    .map((line) => line.split('\t'));
  const present = new Map(moves.map(([, from = '', to]) => [from, to]));
  return changed
    .split('\n')
    .map((file) => (present.has(file) ? (present.get(file) ?? '') : file))
    .filter(isPushed);
}

/**
 * What undoes the commit in the product's files of today, also where they have moved since: a merge of today's tree with
 * the one before the commit, whose common ancestor is the commit. Null when the two changed the same lines, or when
 * nothing is left to undo.
 */
function undoing(root: string, id: string): string | null {
  const git = gitIn(root);
  const commit = (tree: string, ...parents: string[]): string =>
    git('commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent]), '-m', 'undo').trim();
  const base = commit(`${id}^{tree}`);
  const [today, before] = [commit('HEAD^{tree}', base), commit(`${id}~^{tree}`, base)];
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', today, before];
  const { stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  const [tree = '', ...conflicts] = stdout.trim().split('\n');
  if (conflicts.some((file) => /^(src|streams)\//.test(file))) return null;
  return git('diff', 'HEAD', tree, '--', ...product) || null;
}

/** Runs git. Commits that it makes here belong to no branch, and have no author. */
const gitIn =
  (cwd: string) =>
  (...args: string[]): string => {
    const nobody = { GIT_AUTHOR_NAME: 'undo', GIT_AUTHOR_EMAIL: 'undo@localhost' };
    const committer = { GIT_COMMITTER_NAME: 'undo', GIT_COMMITTER_EMAIL: 'undo@localhost' };
    const env = { ...process.env, ...nobody, ...committer };
    return execFileSync('git', args, { cwd, encoding: 'utf8', env, maxBuffer: 256 * 1024 ** 2 });
  };
