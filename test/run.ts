/**
 * `npm test`: the checks, then every test; prints what each step took and ends with the counts.
 * Exits 0 only when nothing failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { browserFiles, installChromium } from './browser/chromium.ts';
import { fuzz } from './fuzz/run.ts';
import { unseen } from './route-coverage.ts';
import { ServiceUnavailable } from './services/commands.ts';
import { leaveOut, prepareServices, report, serviceProjects } from './services/run.ts';
import { runProject, type Failure } from './vitest-project.ts';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Files. */
  notRun: number;
}

const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
// A third of the time that a gateway takes to start goes into compiling: processes of the tests share what came of it.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
const answersFolder = join(folder, 'answers');
process.env['SVC_TEST_ANSWERS'] = answersFolder;
const totals: Counts = { passed: 0, failed: 0, skipped: 0, notRun: 0 };
const failures: Failure[] = [];
const unsteady: Failure[] = [];

/** Two at a time, each prints when it has ended. */
async function checks(scripts: readonly string[]): Promise<void> {
  const waiting = [...scripts];
  const lane = async (): Promise<void> => {
    for (let script = waiting.shift(); script !== undefined; script = waiting.shift()) {
      totals[(await check(script)) ? 'passed' : 'failed'] += 1;
    }
  };
  await Promise.all([lane(), lane()]);
}

async function check(script: string): Promise<boolean> {
  const started = performance.now();
  const child = spawn('npm', ['run', '-s', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const outcome = status === 0 ? 'ok' : 'FAILED';
  console.log(`\n== ${script}: ${outcome} in ${seconds} s\n${out}${err}`.trimEnd());
  if (status !== 0)
    failures.push({ file: `npm run ${script}`, test: 'FAILED', message: out + err });
  return status === 0;
}

function tests(project: string, options: readonly string[] = []): void {
  const started = performance.now();
  const title = `tests: ${project}`;
  console.log(`\n== ${title}`);
  const outcome = runProject(project, folder, options);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`== ${title}: ${outcome.failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s`);
  totals.passed += outcome.passed;
  totals.skipped += outcome.skipped;
  totals.failed += outcome.failed;
  failures.push(...outcome.failures);
  unsteady.push(...outcome.unsteady);
}

/** Files whose service cannot be had here are named, and not run. */
async function testsWithServices(): Promise<void> {
  try {
    const notRun = await prepareServices();
    for (const project of serviceProjects) tests(project, leaveOut(notRun));
    report(notRun);
    totals.notRun += notRun.files.length;
  } catch (error) {
    console.error(error);
    totals.failed += 1;
  }
}

/** Chromium is the distribution's package; without it the files are named, and not run. */
async function testsWithBrowser(): Promise<void> {
  try {
    await installChromium();
    tests('browser');
  } catch (error) {
    if (error instanceof ServiceUnavailable) {
      const notRun = { files: browserFiles(), reasons: [error.message] };
      report(notRun);
      totals.notRun += notRun.files.length;
      return;
    }
    console.error(error);
    totals.failed += 1;
  }
}

/** Schemathesis is fetched; without Python the fuzz is not run. */
async function fuzzing(): Promise<void> {
  const started = performance.now();
  console.log('\n== fuzz');
  try {
    const { passed, failed } = await fuzz();
    totals.passed += passed;
    totals.failed += failed;
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`== fuzz: ${failed === 0 ? 'ok' : 'FAILED'} in ${seconds} s`);
  } catch (error) {
    if (error instanceof ServiceUnavailable) {
      const notRun = { files: ['test/fuzz/run.ts'], reasons: [error.message] };
      report(notRun);
      totals.notRun += notRun.files.length;
      return;
    }
    console.error(error);
    totals.failed += 1;
  }
}

/** Every endpoint was seen to answer all that it says it does. */
function coverage(): void {
  const missing = unseen(answersFolder);
  const isWhole = missing.length === 0;
  console.log(`\n== answers of the endpoints: ${isWhole ? 'ok' : 'FAILED'}`);
  for (const one of missing) console.log(`no test has seen: ${one}`);
  totals[isWhole ? 'passed' : 'failed'] += 1;
}

/** At the end, where it is looked for. */
function printRed(): void {
  for (const { file, test, message } of failures)
    console.log(`\nred: ${file} > ${test}\n${message}`);
  if (unsteady.length === 0) return;
  console.log(`\n${unsteady.length} failed once and passed when their file ran again:`);
  for (const { file, test, message } of unsteady) console.log(`${file} > ${test}\n${message}`);
}

try {
  await checks(['lint', 'types', 'format', 'deps', 'schemas:check']);
  for (const project of ['fast', 'examples', 'system']) tests(project);
  await fuzzing();
  await testsWithBrowser();
  await testsWithServices();
  coverage();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

printRed();
if (totals.notRun > 0) console.log(`\n${totals.notRun} test files not run: see above`);
if (totals.skipped > 0) console.log(`\n${totals.skipped} skipped`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
