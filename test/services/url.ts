import { randomUUID } from 'node:crypto';
import { inject } from 'vitest';
import type { ServiceName } from './catalogue.ts';
import './setup.ts';

/** The URL of a service that this run's files share; what a test makes there needs a name of its own. */
export function serviceUrl(name: ServiceName): string {
  const url = inject('services')[name];
  if (url !== undefined) return url;
  throw new Error(`Only files *.${name}.test.ts and *.services.test.ts get the service ${name}.`);
}

/** A prefix of topics, subjects and keys that no other test has. */
export const ownPrefix = (): string => `test-${randomUUID().slice(0, 8)}`;
