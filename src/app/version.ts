import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The version of this package. */
export function version(): string {
  return (require('svc/package.json') as { version: string }).version;
}
