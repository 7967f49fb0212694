/**
 * `npm test`: the checks and every test of the embedded mode, browser included (the push suite).
 * `npm test -- --services`: then also the contracts and the end-to-end core on real services, and the generated client
 * for Python; `.ci/run` runs this.
 * `npm run test:all`: all tests, faults and long rounds included.
 * Ends with the counts of test cases and checks. Exits 0 only when nothing failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { browserFiles, installChromium } from '#test/browser/chromium.ts';
import { languages } from '#test/clients/generate.ts';
import { installToolchain } from '#test/clients/toolchains.ts';
import { fuzz } from '#test/fuzz/run.ts';
import { installSchemathesis } from '#test/fuzz/schemathesis.ts';
import { matrix } from '#test/packages/matrix.ts';
import { ServiceUnavailable } from '#test/services/commands.ts';
import { coreFiles, leaveOut, prepareServices, report, type NotRun } from '#test/services/run.ts';
import { longRunVariable } from '#test/support/judges/long-run.ts';
import { memoryFolder } from './memory-folder.ts';
import { unpressed, unseen } from './route-coverage.ts';
import { runProject, type Failure, type FileTime, type ProjectOutcome } from './vitest-project.ts';

const { values: options } = parseArgs({
  options: {
    services: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
});
/** In CI a test that cannot run is red, and so is one that passes only on the second try. */
const isCi = process.env['CI'] === 'true';
/** A file of the push suite that takes longer on two quiet cores is worth a look. */
const longFileSeconds = 60;
const slowestShown = 20;

const disk = tmpdir();
// All tests together run on the disk.
process.env['TMPDIR'] = (options.all ? null : memoryFolder()) ?? disk;
const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
// A third of the time that a gateway takes to start is compilation: processes of the tests share its cache.
process.env['NODE_COMPILE_CACHE'] = join(folder, 'compiled');
const answersFolder = join(folder, 'answers');
process.env['SVC_TEST_ANSWERS'] = answersFolder;
if (options.all) process.env[longRunVariable] = '1';

const totals = { passed: 0, failed: 0, skipped: 0, filesNotRun: 0 };
const failures: Failure[] = [];
const unsteady: Failure[] = [];
const pushTimes: FileTime[] = [];

async function checks(scripts: readonly string[]): Promise<void> {
  for (const script of scripts) totals[(await check(script)) ? 'passed' : 'failed'] += 1;
}

async function check(script: string): Promise<boolean> {
  const started = performance.now();
  const child = spawn('npm', ['run', '-s', script], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit') as Promise<[number | null]>,
  ]);
  console.log(`\n== ${script}: ${outcome(status === 0, started)}\n${out}${err}`.trimEnd());
  if (status !== 0)
    failures.push({ file: `npm run ${script}`, test: 'FAILED', message: out + err });
  return status === 0;
}

const outcome = (isGreen: boolean, started: number): string =>
  `${isGreen ? 'ok' : 'FAILED'} in ${((performance.now() - started) / 1000).toFixed(1)} s`;

/** @returns what its files took */
async function tests(project: string, more: readonly string[] = []): Promise<readonly FileTime[]> {
  const started = performance.now();
  console.log(`\n== tests: ${project}`);
  const ran = judged(await runProject(project, folder, more));
  console.log(`== tests: ${project}: ${outcome(ran.failed === 0, started)}`);
  totals.passed += ran.passed;
  totals.skipped += ran.skipped;
  totals.failed += ran.failed;
  failures.push(...ran.failures);
  unsteady.push(...ran.unsteady);
  return ran.times;
}

/** In CI what passed only on the second try has failed. */
function judged(ran: ProjectOutcome): ProjectOutcome {
  if (!isCi) return ran;
  const late = ran.unsteady.map((one) => ({
    ...one,
    test: `${one.test} (passed on the second try)`,
  }));
  return {
    ...ran,
    passed: ran.passed - late.length,
    failed: ran.failed + late.length,
    failures: [...ran.failures, ...late],
    unsteady: [],
  };
}

/** Names the files that cannot run here; in CI each is a failure. */
function leftOut(notRun: NotRun): void {
  report(notRun);
  totals.filesNotRun += notRun.files.length;
  if (!isCi) return;
  totals.failed += notRun.files.length;
  const message = notRun.reasons.join('\n');
  failures.push(...notRun.files.map((file) => ({ file, test: 'NOT RUN', message })));
}

/** Runs what needs something of the machine; without it `files` are left out. */
async function where(files: readonly string[], run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof ServiceUnavailable)) throw error;
    leftOut({ files, reasons: [error.message] });
  }
}

async function testsInBrowser(): Promise<void> {
  await where(browserFiles(), async () => {
    await installChromium();
    pushTimes.push(...(await tests('browser')));
    const missing = await unpressed(answersFolder);
    nothingMissing('changes of the console', 'no test has pressed', missing);
  });
}

async function testsOnServices(): Promise<void> {
  const chosen = options.all ? [] : coreFiles;
  const notRun = await prepareServices(chosen);
  await tests('services', [...chosen, ...leaveOut(notRun)]);
  if (options.all) await tests('faults', leaveOut(notRun));
  leftOut(notRun);
}

/** Clients in other languages: that of Python, in a whole run all. */
async function testsOfClients(): Promise<void> {
  for (const language of options.all ? languages : (['python'] as const)) {
    const file = `test/clients/${language}.test.ts`;
    await where([file], async () => {
      await installToolchain(language);
      await tests('clients', [file]);
    });
  }
}

/** One test case: what it did is printed beside it. @param run returns what is wrong */
async function program(
  name: string,
  file: string,
  run: () => Promise<readonly string[]>,
): Promise<void> {
  await where([file], async () => {
    const started = performance.now();
    console.log(`\n== ${name}`);
    const problems = await run();
    const isGreen = problems.length === 0;
    console.log(`== ${name}: ${outcome(isGreen, started)}`);
    totals[isGreen ? 'passed' : 'failed'] += 1;
    if (!isGreen) failures.push({ file, test: name, message: problems.join('\n') });
  });
}

const fuzzing = (): Promise<void> =>
  program('fuzz', 'test/fuzz/run.ts', () => fuzz({ isLong: options.all }));

/** A check of what the tests together have seen. */
function nothingMissing(what: string, problem: string, missing: readonly string[]): void {
  const isWhole = missing.length === 0;
  console.log(`\n== ${what}: ${isWhole ? 'ok' : 'FAILED'}`);
  totals[isWhole ? 'passed' : 'failed'] += 1;
  const message = missing.map((one) => `${problem}: ${one}`).join('\n');
  if (!isWhole) failures.push({ file: 'test/route-coverage.ts', test: what, message });
}

/** Prints the slowest files, beside the load of the machine: time alone makes no run red. */
function fileTimes(): void {
  const slowest = pushTimes
    .map(({ file, from, to }) => ({ file, seconds: (to - from) / 1000 }))
    .sort((a, b) => b.seconds - a.seconds)
    .slice(0, slowestShown);
  const load = loadavg().map((one) => one.toFixed(1));
  console.log(
    `\n== the ${slowestShown} slowest files (load of the last 1, 5, 15 minutes: ${load.join(', ')}, cores: ${availableParallelism()})`,
  );
  for (const { file, seconds } of slowest) {
    const note =
      seconds > longFileSeconds
        ? `  over ${longFileSeconds} s: split it, if the machine was quiet`
        : '';
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}${note}`);
  }
}

try {
  // What is fetched for the last step, which itself says what is missing.
  const fetched = Promise.allSettled([installChromium(), installSchemathesis()]);
  const [fast] = await Promise.all([
    tests('fast'),
    checks(['types', 'lint', 'format', 'deps', 'language', 'schemas:check']),
  ]);
  pushTimes.push(...fast, ...(await tests('system')), ...(await tests('templates')));
  await fetched;
  // Both wait much of the time.
  await Promise.all([fuzzing(), testsInBrowser()]);
  nothingMissing('responses of the endpoints', 'no test has seen', unseen(answersFolder));
  fileTimes();
  process.env['TMPDIR'] = disk;
  if (options.services || options.all) {
    await testsOnServices();
    await testsOfClients();
  }
  if (options.all) await program('packages', 'test/packages/matrix.ts', matrix);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

for (const { file, test, message } of failures) console.log(`\nred: ${file} > ${test}\n${message}`);
for (const { file, test, message } of unsteady)
  console.log(`\nfailed once, and passed when its file ran again: ${file} > ${test}\n${message}`);
if (totals.filesNotRun > 0) console.log(`\n${totals.filesNotRun} test files not run: see above`);
if (totals.skipped > 0) console.log(`\n${totals.skipped} skipped`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
