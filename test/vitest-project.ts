/** One vitest project as a step of a suite: counted, with each failure and the time of each file. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** A test that failed, a file that did not load, or an error that nothing caught. */
export interface Failure {
  /** Relative to the repository. */
  readonly file: string;
  readonly test: string;
  /** The first lines. */
  readonly message: string;
}

/** When a test file began its first test and ended its last, in milliseconds since the epoch. */
export interface FileTime {
  readonly file: string;
  readonly from: number;
  readonly to: number;
}

export interface ProjectOutcome {
  /** Test cases. */
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
  /** What failed once and passed when its file ran again: each is a defect, of the test or of what it tests. */
  readonly unsteady: readonly Failure[];
  readonly times: readonly FileTime[];
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
  /** Milliseconds since the epoch. */
  readonly startTime: number;
  readonly endTime: number;
  readonly assertionResults: readonly {
    readonly fullName: string;
    readonly status: string;
    readonly failureMessages: readonly string[];
  }[];
}

const messageLines = 12;

/** More files than this are no accident: they do not run again. */
const filesAgainMax = 5;

/**
 * Runs `project` and, when a few of its files fail, those again: what passes then counts as passed and is named as
 * unsteady. An error outside of every test is red.
 * @param folder takes the reports
 * @param options of vitest: files, `--exclude`
 */
export async function runProject(
  project: string,
  folder: string,
  options: readonly string[] = [],
): Promise<ProjectOutcome> {
  const first = await runOnce(project, join(folder, `${project}.json`), options);
  const files = [...new Set(first.failures.map(({ file }) => file))];
  const isAccident = files.length > 0 && files.length <= filesAgainMax;
  if (!isAccident || files.includes(outside(project))) return first;
  console.log(`\nfailed, and run again: ${files.join(' ')}`);
  const again = await runOnce(project, join(folder, `${project}-again.json`), files);
  if (again.failed > 0) return { ...first, failures: again.failures };
  const passed = first.passed + first.failed;
  return { ...first, passed, failed: 0, failures: [], unsteady: first.failures };
}

const outside = (project: string): string => `project ${project}`;

async function runOnce(
  project: string,
  file: string,
  options: readonly string[],
): Promise<ProjectOutcome> {
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${file}`];
  const args = ['run', '--project', project, ...reporters, ...options];
  const stdio = ['ignore', 'inherit', 'inherit'] as const;
  const child = spawn('vitest', args, { stdio: [...stdio], detached: true });
  const group = -(child.pid ?? 0);
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const interrupt = (signal: NodeJS.Signals): boolean => process.kill(group, signal);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  const watching = new AbortController();
  const watched = endHung(file, group, watching.signal);
  const [status] = await exited;
  watching.abort();
  await watched;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, interrupt);
  killLeft(group);
  return outcomeOf(project, status === 0, readReport(file));
}

/** How long vitest may take to end after its report: a process that a test has left may hold its output open. */
const endsWithinMs = 60_000;

/** Kills a vitest that does not end: without it, the failures that it has found are never printed. */
async function endHung(report: string, group: number, signal: AbortSignal): Promise<void> {
  let reportedAt: number | undefined;
  try {
    for (;;) {
      await setTimeout(1_000, undefined, { signal });
      const now = performance.now();
      if (existsSync(report)) reportedAt ??= now;
      if (now - (reportedAt ?? now) < endsWithinMs) continue;
      console.log(`\nvitest did not end, and is killed with what its tests have started`);
      killLeft(group);
      return;
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

function killLeft(group: number): void {
  try {
    process.kill(group, 'SIGKILL');
  } catch (error) {
    // Nobody is left.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function outcomeOf(project: string, isGreen: boolean, report: Report | undefined): ProjectOutcome {
  const files = report?.testResults ?? [];
  const named = files.flatMap(failuresOf);
  // vitest exits with an error although each test passed: an error outside of every test.
  const uncaught: Failure = {
    file: outside(project),
    test: 'an uncaught error, printed above',
    message: '',
  };
  const failures = !isGreen && named.length === 0 ? [uncaught] : named;
  return {
    passed: report?.numPassedTests ?? 0,
    failed: failures.length,
    skipped: report?.numPendingTests ?? 0,
    failures,
    unsteady: [],
    times: files.map(({ name, startTime, endTime }) => ({
      file: nameOf(name),
      from: startTime,
      to: endTime,
    })),
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
