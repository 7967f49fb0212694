import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readFacts } from './facts.ts';

const folder = new URL('../../src/modules/connections/providers/catalogue', import.meta.url)
  .pathname;

/** The files of the built-in catalog. */
export const catalogueFiles = (): string[] =>
  readdirSync(folder)
    .sort()
    .map((name) => join(folder, name));

/** Of an entry: what confirms its base URL. */
export function certaintyOf(): (name: string) => string {
  const facts = new Map([...readFacts().values()].flatMap((entries) => Object.entries(entries)));
  return (name) => {
    const { confirmed = {} } = facts.get(name) ?? {};
    const { page, sources = 0 } = confirmed['proxy.base_url'] ?? {};
    if (page !== undefined) return "the provider's page";
    if (sources >= 2) return 'two or more sources';
    return sources === 1 ? 'one source' : 'no source kept';
  };
}
