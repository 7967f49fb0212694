import type { TestProject } from 'vitest/node';
import { serviceNames, services, servicesOf, type ServiceName } from './catalogue.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** URLs of the services that run for this run's files. */
    services: Partial<Record<ServiceName, string>>;
  }
}

/**
 * Starts what the files of this run need, each service once for all of them, and gives their URLs to the
 * tests: by `serviceUrl` and by the variables that would name running ones.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using stack = new AsyncDisposableStack();
  const files = project.vitest.state.getPaths();
  const needed = serviceNames.filter((name) =>
    files.some((file) => servicesOf(file).includes(name)),
  );
  const urls: Partial<Record<ServiceName, string>> = {};
  for (const name of needed) {
    const { variable, start } = services[name];
    urls[name] = process.env[variable] ?? stack.use(await start()).url;
    process.env[variable] = urls[name];
  }
  project.provide('services', urls);
  const started = stack.move();
  return () => started.disposeAsync();
}
