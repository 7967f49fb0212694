import { createRequire } from 'node:module';
import type { Release } from '#adapters/event-log/embedded/releases.ts';

const require = createRequire(import.meta.url);

/** The version of this package. */
export function version(): string {
  return (require('#package.json') as { version: string }).version;
}

/**
 * The earliest release that can open what this one writes. Raise it together with `formatVersions` of the embedded log,
 * and when a value is written that earlier releases misread.
 */
const floor = '0.70.0';

export const release = (): Release => ({ version: version(), floor });
