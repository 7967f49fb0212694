import { readFile } from 'node:fs/promises';

const isBuilt = import.meta.url.endsWith('.js');

let loaded: Promise<string> | null = null;

/** The script of an isolate: the guest runtime and zod. A build contains it; the sources are bundled once per process. */
export function guestRuntime(): Promise<string> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<string> {
  if (isBuilt) return readFile(new URL('./guest/runtime.js', import.meta.url), 'utf8');
  const { bundleGuestRuntime } = await import('./bundle-guest.ts');
  return bundleGuestRuntime();
}
