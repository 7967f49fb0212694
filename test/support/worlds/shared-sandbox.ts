import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import type { Sandbox } from '#ports/sandbox.ts';

let opened: Promise<Sandbox> | null = null;

/**
 * The sandbox that the files of a worker share, because starting a process of one takes half a second of processor
 * time. It ends with the worker; what kills or overloads processes opens its own.
 */
export async function sharedSandbox(): Promise<Sandbox> {
  opened ??= openSandbox();
  return lent(await opened);
}

/** A sandbox whose user, such as a command, may dispose of it: it stays open for the next. */
export const lent = (sandbox: Sandbox): Sandbox => ({
  run: (request, host) => sandbox.run(request, host),
  describe: (bundle, fileName) => sandbox.describe(bundle, fileName),
  [Symbol.asyncDispose]: async () => undefined,
});
