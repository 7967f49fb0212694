import { installKafka, startKafka } from './kafka.ts';
import { installRedis, startRedis } from './redis.ts';
import { installRegistry, startRegistry } from './registry.ts';
import type { Service } from './service.ts';

export type ServiceName = 'kafka' | 'registry' | 'redis';

interface ServiceEntry {
  /** Names one that runs already; it is then neither fetched nor started. */
  readonly variable: string;
  /** @throws ServiceUnavailable */
  readonly install: () => Promise<unknown>;
  /** @throws ServiceUnavailable */
  readonly start: () => Promise<Service>;
}

/** The services of the tests. A file `*.<name>.test.ts` gets that one, `*.services.test.ts` gets all. */
export const services: Readonly<Record<ServiceName, ServiceEntry>> = {
  kafka: { variable: 'SVC_TEST_KAFKA_URL', install: installKafka, start: () => startKafka() },
  registry: {
    variable: 'SVC_TEST_REGISTRY_URL',
    install: installRegistry,
    start: startRegistry,
  },
  redis: { variable: 'SVC_TEST_REDIS_URL', install: installRedis, start: () => startRedis() },
};

export const serviceNames = Object.keys(services) as ServiceName[];

/** What a test file needs, by its name. */
export function servicesOf(file: string): readonly ServiceName[] {
  const suffix = /\.(\w+)\.test\.ts$/.exec(file)?.[1];
  return suffix === 'services' ? serviceNames : serviceNames.filter((name) => name === suffix);
}

/** Faults are for a service of the test's own, also where the URL of a running one is given. */
export const startsItsOwn = (file: string): boolean => file.includes('.faults.');
