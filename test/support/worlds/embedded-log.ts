import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbeddedLogClient } from '#adapters/event-log/embedded/client.ts';
import { openEmbeddedLog, type EmbeddedLog } from '#adapters/event-log/embedded/open.ts';
import { dayMs } from '#kernel/time.ts';
import type { EventLogHarness } from '#test/contract/event-log.contract.ts';

const yearMs = 365 * dayMs;
/** The longest that a timer waits: cleaning is asked for here. */
const longMs = 2 ** 31 - 1;

/** A folder that is gone when the test ends. */
export async function temporaryFolder(): Promise<AsyncDisposable & { readonly path: string }> {
  const path = await mkdtemp(join(tmpdir(), 'svc-log-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** One pass of retention and compaction over the log of a gateway that has stopped, as if so many days had passed. */
export async function cleanLogOf(dataDir: string, days: number): Promise<void> {
  await using embedded = await openEmbeddedLog({
    directory: join(dataDir, 'log'),
    cleanEveryMs: longMs,
  });
  await embedded.maintenance.clean({ now: Date.now() + days * dayMs });
}

/** The embedded log for the contract suite: one log, a client for each `open`. */
export function embeddedHarness(): EventLogHarness {
  let folder: Awaited<ReturnType<typeof temporaryFolder>> | null = null;
  let running: EmbeddedLog | null = null;
  let names = 0;
  const start = async (): Promise<EmbeddedLog> => {
    folder ??= await temporaryFolder();
    running ??= await openEmbeddedLog({ directory: folder.path, cleanEveryMs: longMs });
    return running;
  };
  const stop = async (): Promise<void> => {
    await running?.[Symbol.asyncDispose]();
    running = null;
  };
  const clean = async (years: number): Promise<void> =>
    (await start()).maintenance.clean({ now: Date.now() + years * yearMs });
  let years = 0;
  return {
    open: async () => {
      const embedded = await start();
      const port = embedded.connectPort();
      return openEmbeddedLogClient({ directory: folder?.path ?? '', port }).log;
    },
    name: (label) => `${label}-${++names}`,
    settle: () => Promise.resolve(),
    restart: stop,
    compact: () => clean(++years),
    expire: () => clean(++years),
    close: async () => {
      await stop();
      await folder?.[Symbol.asyncDispose]();
    },
  };
}
