import { services, serviceNames, type ServiceName } from '#test/services/catalogue.ts';
import type { Service } from '#test/services/service.ts';
import { prefixVariable } from './deployment.ts';

export type OwnServices = Readonly<Record<ServiceName, Service>> & AsyncDisposable;

/** Services of this test file alone, which it may kill: its gateways work on them from now on. */
export async function startOwnServices(): Promise<OwnServices> {
  await using stack = new AsyncDisposableStack();
  const started: Partial<Record<ServiceName, Service>> = {};
  for (const name of serviceNames) {
    await services[name].install();
    const service = stack.use(await services[name].start());
    started[name] = service;
    process.env[services[name].variable] = service.url;
  }
  process.env[prefixVariable] = 'faults';
  const opened = stack.move();
  return {
    ...(started as Record<ServiceName, Service>),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}
