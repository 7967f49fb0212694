import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Tests against real Kafka, registry and Redis, wherever they lie. */
const withServices = 'test/**/*.{kafka,redis,registry,services}.test.ts';

/** Of those, what is about time and starts services of its own. */
const withFaults = 'test/**/*.faults.*.test.ts';

/** Tests that open a browser, outside of its folder. */
const withBrowser = 'test/**/*.browser.test.ts';

/** Every answer of a gateway is held against it. */
const documentOfAnswers = 'test/support/judges/openapi-setup.ts';

/** Compiles the functions that the worlds of the tests deploy, once. */
const functions = 'test/support/worlds/functions-setup.ts';

/** What is started is what users start. */
const programs = 'test/support/processes/built-programs.ts';

/** One gateway for the files of a worker. */
const gateways = 'test/support/worlds/shared-gateways.ts';

/** What is asked for again and again may take as long on a busy machine; a test's own timeout ends it. */
const expectOptions = { poll: { timeout: 50_000 } };

/** A value that differs is printed whole in reports that show the message alone. */
const chaiConfig = { truncateThreshold: 400 };

/**
 * The files of a worker share its process and modules: loading the code under test for each of them takes 0.7 s of
 * processor time a file. Without V8's baseline compiler: with it, a worker of Node 24 crashes now and then
 * (nodejs/node#62393).
 */
const workers = { pool: 'forks' as const, isolate: false, execArgv: ['--no-sparkplug'] };

/** The longest files begin first, so that in the end no worker is left alone with one. */
const longest =
  /\/(import|rebuild-load|rebuild-killed|record-history|transfer|crash|failed-start|access|paging|root-keys|rebuild|restart|clickhouse-away|clickhouse-unready|forms|redirect|look|console-environment-pages|console-activity-pages|console|console-changes|console-tasks-\d+|console-keyboard|console-crm|outside-text|generations|hostile|nodes|refresh|rebuild-shared)\./;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => longest.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** What the templates import is this package itself. */
const templateModules = {
  'svc/testing': new URL('./src/cli/testing/index.ts', import.meta.url).pathname,
  svc: new URL('./src/sdk/index.ts', import.meta.url).pathname,
};

/**
 * `fast` runs in process; `system` starts real gateways, `templates` plays the situations of the templates, `browser` a
 * gateway and Chromium; `clients` generates and runs clients in other languages; `services` starts real Kafka, registry and Redis. A part of the time is waiting, more so in what
 * talks to other processes: three files at a time on two cores, and four of those that wait for processes to start. `faults` breaks services of its own: one file at
 * a time.
 */
export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'fast',
          include: ['test/{unit,contract,golden,simulation}/**/*.test.ts', 'test/tidy.test.ts'],
          exclude: [withServices],
          ...workers,
          maxWorkers: 3,
          expect: expectOptions,
          chaiConfig,
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/{api,e2e}/**/*.test.ts'],
          exclude: [withServices, withBrowser],
          globalSetup: [programs, documentOfAnswers, functions, gateways],
          ...workers,
          maxWorkers: 4,
          expect: expectOptions,
          chaiConfig,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        resolve: { alias: templateModules },
        test: {
          name: 'templates',
          include: ['templates/*/tests/*.test.ts'],
          globalSetup: [programs],
          pool: 'forks',
          // Much of the time is waiting: for limits of providers, and for gateways that start.
          maxWorkers: 4,
          // One gateway for the files of a worker.
          isolate: false,
          execArgv: ['--no-sparkplug'],
          testTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts', withBrowser],
          globalSetup: [programs, documentOfAnswers],
          ...workers,
          maxWorkers: 3,
          expect: expectOptions,
          chaiConfig,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          globalSetup: [programs, documentOfAnswers, gateways],
          ...workers,
          maxWorkers: 2,
          testTimeout: 600_000,
          hookTimeout: 600_000,
        },
      },
      {
        test: {
          name: 'services',
          include: [withServices],
          exclude: [withFaults],
          globalSetup: [programs, documentOfAnswers, functions, 'test/services/setup.ts'],
          ...workers,
          maxWorkers: 3,
          expect: expectOptions,
          chaiConfig,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
      {
        test: {
          name: 'faults',
          include: [withFaults],
          globalSetup: [programs, documentOfAnswers, functions],
          pool: 'forks',
          fileParallelism: false,
          expect: expectOptions,
          chaiConfig,
          testTimeout: 300_000,
          hookTimeout: 300_000,
        },
      },
    ],
  },
});
