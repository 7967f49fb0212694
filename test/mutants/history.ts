/** Commits that changed behavior together with a test, and that can be undone alone. */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export interface Commit {
  readonly id: string;
  readonly subject: string;
  /** Test files of the push suite that the commit changed and that still exist. */
  readonly tests: readonly string[];
}

/** Commits that move, rename or tidy: undoing them changes no behavior, so that no test can find it. */
const tidying =
  /\b(move|rename|split|merge|extract|share|format|simplify|tidy|inline|name|one place|of (their|its) own|by one helper|bench|benchmark|typings?|comment|document)\b/i;
const sourceFilesMax = 3;
const changedLinesMax = 60;
const isPushed = (file: string): boolean =>
  /^test\/(unit|contract|simulation|golden|api|e2e)\/.*\.test\.ts$/.test(file) &&
  !/\.(kafka|redis|registry|services)\.test\.ts$/.test(file);

/** The candidates, newest first. @param root of the repository, with its whole history */
export function undoable(root: string): readonly Commit[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 256 * 1024 ** 2 });
  const log = git('log', '--no-merges', '--format=%x00%H %s', '--numstat');
  const commits = log
    .split('\0')
    .slice(1)
    .flatMap((entry) => candidate(root, entry));
  return commits.filter(({ id }) => {
    const patch = git('diff', `${id}~`, id, '--', 'src', 'streams');
    const args = ['apply', '--reverse', '--check', '-'];
    return spawnSync('git', args, { cwd: root, input: patch }).status === 0;
  });
}

function candidate(root: string, entry: string): Commit[] {
  const [head = '', ...lines] = entry.trim().split('\n');
  const id = head.slice(0, 40);
  const subject = head.slice(41);
  const changes = lines.filter((line) => line !== '').map((line) => line.split('\t'));
  const files = changes.map(([, , file = '']) => file);
  const source = changes.filter(([, , file = '']) => /^(src|streams)\/.*\.ts$/.test(file));
  const size = source.reduce((sum, [added, removed]) => sum + Number(added) + Number(removed), 0);
  const tests = files.filter((file) => isPushed(file) && existsSync(join(root, file)));
  const isSmall = source.length > 0 && source.length <= sourceFilesMax && size <= changedLinesMax;
  return isSmall && tests.length > 0 && !tidying.test(subject) ? [{ id, subject, tests }] : [];
}
