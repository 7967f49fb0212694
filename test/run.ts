/**
 * `npm test`: the checks and every test of the embedded mode, browser included (the push suite).
 * `npm test -- --services`: then also the contracts and the end-to-end core on real services; `.ci/run` runs this.
 * `npm run test:all`: all tests, faults and long rounds included.
 * Ends with the counts of test cases and checks. Exits 0 only when nothing failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { browserFiles, installChromium } from './browser/chromium.ts';
import { fuzz } from './fuzz/run.ts';
import { medianReferenceLoad } from './reference-load.ts';
import { unseen } from './route-coverage.ts';
import { ServiceUnavailable } from './services/commands.ts';
import { coreFiles, leaveOut, prepareServices, report, type NotRun } from './services/run.ts';
import { longRunVariable } from './support/long-run.ts';
import { runProject, type Failure, type FileTime } from './vitest-project.ts';

const { values: options } = parseArgs({
  options: {
    services: { type: 'boolean', default: false },
    all: { type: 'boolean', default: false },
  },
});
/** In CI a test that cannot run is a failed one. */
const isCi = process.env['CI'] === 'true';
/** What a file of the push suite may take, in reference loads: 60 s on two quiet cores. */
const fileLoadsMax = 600;
const slowestShown = 20;

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
  const ran = await runProject(project, folder, more);
  console.log(`== tests: ${project}: ${outcome(ran.failed === 0, started)}`);
  totals.passed += ran.passed;
  totals.skipped += ran.skipped;
  totals.failed += ran.failed;
  failures.push(...ran.failures);
  unsteady.push(...ran.unsteady);
  return ran.times;
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
  });
}

async function testsOnServices(): Promise<void> {
  const chosen = options.all ? [] : coreFiles;
  const notRun = await prepareServices(chosen);
  await tests('services', [...chosen, ...leaveOut(notRun)]);
  if (options.all) await tests('faults', leaveOut(notRun));
  leftOut(notRun);
}

/** One test case: what it sent is printed beside it. */
async function fuzzing(): Promise<void> {
  await where(['test/fuzz/run.ts'], async () => {
    const started = performance.now();
    console.log('\n== fuzz');
    const problems = await fuzz({ isLong: options.all });
    const isGreen = problems.length === 0;
    console.log(`== fuzz: ${outcome(isGreen, started)}`);
    totals[isGreen ? 'passed' : 'failed'] += 1;
    const message = problems.join('\n');
    if (!isGreen) failures.push({ file: 'test/fuzz/run.ts', test: 'npm run fuzz', message });
  });
}

/** Each endpoint was seen to answer all that it declares. */
function coverage(): void {
  const missing = unseen(answersFolder);
  const isWhole = missing.length === 0;
  console.log(`\n== responses of the endpoints: ${isWhole ? 'ok' : 'FAILED'}`);
  totals[isWhole ? 'passed' : 'failed'] += 1;
  const message = missing.map((one) => `no test has seen: ${one}`).join('\n');
  if (!isWhole) failures.push({ file: 'test/route-coverage.ts', test: 'responses', message });
}

/** Prints the slowest files, and which of them take longer than the limit. @param loadMs one reference load */
function fileTimes(loadMs: number): void {
  const sorted = pushTimes.toSorted((a, b) => b.ms - a.ms);
  const limitMs = fileLoadsMax * loadMs;
  console.log(`\n== the ${slowestShown} slowest files (limit ${(limitMs / 1000).toFixed(0)} s)`);
  for (const { file, ms } of sorted.slice(0, slowestShown)) {
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  }
  const tooSlow = sorted.filter(({ ms }) => ms > limitMs).length;
  console.log(`${tooSlow} of ${sorted.length} files take longer than the limit`);
}

const measuring = new AbortController();
const measured = medianReferenceLoad(measuring.signal);
try {
  const [fast] = await Promise.all([
    tests('fast'),
    checks(['types', 'lint', 'format', 'deps', 'language', 'schemas:check']),
  ]);
  pushTimes.push(...fast, ...(await tests('examples')), ...(await tests('system')));
  await fuzzing();
  await testsInBrowser();
  measuring.abort();
  coverage();
  fileTimes(await measured);
  if (options.services || options.all) await testsOnServices();
} finally {
  measuring.abort();
  rmSync(folder, { recursive: true, force: true });
}

for (const { file, test, message } of failures) console.log(`\nred: ${file} > ${test}\n${message}`);
for (const { file, test, message } of unsteady)
  console.log(`\nfailed once, and passed when its file ran again: ${file} > ${test}\n${message}`);
if (totals.filesNotRun > 0) console.log(`\n${totals.filesNotRun} test files not run: see above`);
if (totals.skipped > 0) console.log(`\n${totals.skipped} skipped`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
