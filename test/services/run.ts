/**
 * `npm run test:services [-- files and options of vitest]`: the tests against real services. Fetches what is
 * missing first; what can't be had is said, with the files that were not run for it.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { serviceNames, services, servicesOf, startsItsOwn, type ServiceName } from './catalogue.ts';
import { ServiceUnavailable } from './commands.ts';

/** The projects of vitest that use services, in the order of their runs. */
export const serviceProjects = ['services', 'faults'] as const;

/**
 * What `.ci/run` runs on real services: the contract of each port, and the core from end to end (runs and records,
 * pages, restarts, roles apart, brokers that authenticate and authorize).
 */
export const coreFiles: readonly string[] = [
  'test/contract/coordination.redis.test.ts',
  'test/contract/event-log.kafka.test.ts',
  'test/contract/event-log-topics.kafka.test.ts',
  'test/contract/schemas.registry.test.ts',
  'test/e2e/gateway.services.test.ts',
  'test/e2e/kafka-rights.services.test.ts',
  'test/e2e/paging.services.test.ts',
  'test/e2e/restart.services.test.ts',
  'test/e2e/roles.services.test.ts',
];

/** Files that can't be run here, and why. */
export interface NotRun {
  readonly files: readonly string[];
  readonly reasons: readonly string[];
}

/** Whether the file needs the service here, and not just its URL. */
function needs(file: string, name: ServiceName): boolean {
  const isGiven = process.env[services[name].variable] !== undefined;
  return servicesOf(file).includes(name) && (startsItsOwn(file) || !isGiven);
}

/** Fetches what the test files need whose paths contain one of the filters; without filters, all. */
export async function prepareServices(filters: readonly string[] = []): Promise<NotRun> {
  const all = globSync('test/**/*.test.ts');
  const isWanted = (file: string) => filters.some((filter) => file.includes(filter));
  const wanted = filters.length === 0 ? all : all.filter(isWanted);
  const missing = new Map<ServiceName, string>();
  for (const name of serviceNames.filter((one) => wanted.some((file) => needs(file, one)))) {
    try {
      await services[name].install();
    } catch (error) {
      if (!(error instanceof ServiceUnavailable)) throw error;
      missing.set(name, error.message);
    }
  }
  const lacking = wanted.filter((file) => [...missing.keys()].some((name) => needs(file, name)));
  return { files: lacking, reasons: [...missing.values()] };
}

/** Options of vitest that leave the files out. */
export const leaveOut = ({ files }: NotRun): string[] =>
  files.length === 0 ? [] : ['--passWithNoTests', ...files.map((file) => `--exclude=${file}`)];

export function report({ files, reasons }: NotRun): void {
  if (files.length === 0) return;
  const lines = [...reasons, 'NOT RUN for want of it:', ...files.map((file) => `  ${file}`)];
  console.error(`\n${lines.join('\n')}`);
}

if (import.meta.main) {
  const args = process.argv.slice(2);
  const notRun = await prepareServices(args.filter((arg) => arg.startsWith('test/')));
  const options = ['--passWithNoTests', ...leaveOut(notRun), ...args];
  for (const project of serviceProjects) {
    const { status } = spawnSync('vitest', ['run', '--project', project, ...options], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exitCode = status ?? 1;
  }
  report(notRun);
}
