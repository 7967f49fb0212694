/** One vitest project as a step of `npm test`: run, counted, and what was red in it named. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** A test that failed, or a file that did not load. */
export interface Failure {
  /** From the folder of the project. */
  readonly file: string;
  readonly test: string;
  /** The first lines. */
  readonly message: string;
}

export interface ProjectOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** What is red in the end. */
  readonly failures: readonly Failure[];
  /** What was red once and green when its file ran again: each is a defect, of the test or of what it tests. */
  readonly unsteady: readonly Failure[];
}

interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly numPendingTests: number;
  readonly testResults: readonly FileReport[];
}

interface FileReport {
  readonly name: string;
  readonly status: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

/** More red files than this are no accident: they are not run again. */
const mostFilesAgain = 5;
const messageLines = 12;

/**
 * Runs `project` and, when a few of its files are red, those again by themselves: what passes then is counted as
 * passed and named as unsteady. `folder` takes the reports.
 */
export function runProject(
  project: string,
  folder: string,
  options: readonly string[] = [],
): ProjectOutcome {
  const first = runOnce(project, join(folder, `${project}.json`), options);
  const files = [...new Set(first.failures.map(({ file }) => file))];
  if (first.isGreen || files.length === 0 || files.length > mostFilesAgain) return first;
  console.log(`\nred, and run again: ${files.join(' ')}`);
  const again = runOnce(project, join(folder, `${project}-again.json`), files);
  if (!again.isGreen) return { ...first, failures: again.failures };
  const passedBefore = first.files
    .filter(({ name }) => files.includes(nameOf(name)))
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed').length;
  const passed = first.passed - passedBefore + again.passed;
  return { ...first, passed, failed: 0, failures: [], unsteady: first.failures };
}

interface Once extends ProjectOutcome {
  readonly isGreen: boolean;
  readonly files: readonly FileReport[];
}

function runOnce(project: string, file: string, options: readonly string[]): Once {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const args = ['run', '--project', project, ...reporters, ...options];
  const { status } = spawnSync('vitest', args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const report = readReport(file);
  const isGreen = status === 0;
  return {
    isGreen,
    passed: report?.numPassedTests ?? 0,
    // A file that does not load, or an unhandled error, fails the run without failing a test.
    failed: isGreen ? 0 : Math.max(1, report?.numFailedTests ?? 0),
    skipped: report?.numPendingTests ?? 0,
    failures: isGreen ? [] : (report?.testResults ?? []).flatMap(failuresOf),
    files: report?.testResults ?? [],
    unsteady: [],
  };
}

function failuresOf(result: FileReport): Failure[] {
  const file = nameOf(result.name);
  const failed = result.assertionResults.filter(({ status }) => status === 'failed');
  if (failed.length === 0 && result.status === 'failed') {
    return [{ file, test: 'does not load', message: firstLines(result.message) }];
  }
  return failed.map((one) => ({
    file,
    test: one.fullName,
    message: firstLines(one.failureMessages.join('\n')),
  }));
}

function nameOf(path: string): string {
  return relative(process.cwd(), path);
}

function firstLines(message: string): string {
  return message.split('\n').slice(0, messageLines).join('\n');
}

function readReport(file: string): Report | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
}
