import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { dayMs } from '#kernel/time.ts';

const everyMsDefault = dayMs;
/** Interval of checks of the newest copy's age, and wait after a failed copy. */
const lookEveryMs = 60_000;
const retryMs = 600_000;
/** Unfinished files of a crashed process. */
const unfinishedMs = dayMs;

const entry = fileURLToPath(
  new URL(`./snapshot-process${extname(import.meta.url)}`, import.meta.url),
);
const run = promisify(execFile);

export interface SnapshotsOptions extends ProcessPorts {
  /** Of this log only; created when missing. Nodes may share it. */
  readonly folder: string;
  readonly everyMs?: number;
}

interface Snapshot {
  readonly file: string;
  /** SHA-256 of the file, which is also in its name. */
  readonly digest: string;
  readonly madeAt: number;
}

/**
 * Copies of the state stores of partitions, as `records-<partition>.<SHA-256>.db`. A copy appears complete or not at
 * all, and has the committed state of its store, which is never ahead of the log.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  readonly #nextLookAt = new Map<number, number>();
  #copying: { readonly partition: number; ending: AbortController; done: Promise<void> } | null =
    null;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
  }

  /**
   * Copies the store when its newest copy is a day old, in a process of its own, which only reads the store and can be
   * killed at any time; one at a time, beside the decisions. A failure is logged and retried later.
   */
  offer(partition: number, store: string): void {
    const now = this.#options.clock.now();
    if (this.#copying !== null || now < (this.#nextLookAt.get(partition) ?? 0)) return;
    this.#nextLookAt.set(partition, now + lookEveryMs);
    const ending = new AbortController();
    const done = this.#copyWhenDue(partition, store, ending.signal).finally(() => {
      this.#copying = null;
    });
    this.#copying = { partition, ending, done };
  }

  /** Call before the store of the partition is closed: ends its copying. */
  async end(partition: number): Promise<void> {
    const copying = this.#copying;
    this.#nextLookAt.delete(partition);
    if (copying?.partition !== partition) return;
    copying.ending.abort();
    await copying.done;
  }

  /**
   * Puts the newest intact copy at `file`, and resolves with its source; null when there is none.
   * @throws the signal's reason when it aborts
   */
  async fetch(partition: number, file: string, signal: AbortSignal): Promise<string | null> {
    const { logger } = this.#options;
    const copy = `${file}.copy`;
    try {
      for (const snapshot of await this.#all(partition)) {
        if ((await copied(snapshot.file, copy, signal)) === snapshot.digest) {
          await rename(copy, file);
          return snapshot.file;
        }
        logger.warn({ partition, file: snapshot.file }, 'a damaged snapshot of a state store');
        await rm(snapshot.file, { force: true });
      }
    } catch (err) {
      signal.throwIfAborted();
      logger.warn({ err, partition }, 'the snapshot of a state store cannot be read');
    } finally {
      await rm(copy, { force: true });
    }
    return null;
  }

  async #copyWhenDue(partition: number, store: string, signal: AbortSignal): Promise<void> {
    const { clock, logger, everyMs = everyMsDefault } = this.#options;
    try {
      const [newest] = await this.#all(partition);
      if (newest !== undefined && clock.now() - newest.madeAt < everyMs) return;
      const file = await this.#copy(partition, store, signal);
      logger.info({ partition, file }, 'a snapshot of a state store was taken');
    } catch (err) {
      if (signal.aborted) return;
      this.#nextLookAt.set(partition, clock.now() + retryMs);
      logger.warn({ err, partition }, 'a snapshot of a state store failed');
    }
  }

  async #copy(partition: number, store: string, signal: AbortSignal): Promise<string> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const unfinished = join(folder, `records-${partition}.${randomUUID()}.part`);
    try {
      const options = { env: {}, signal, killSignal: 'SIGKILL' } as const;
      const { stdout } = await run(process.execPath, [entry, store, unfinished], options);
      const file = join(folder, `records-${partition}.${stdout}.db`);
      await rename(unfinished, file);
      await this.#removeOthers(partition, file);
      return file;
    } finally {
      await rm(unfinished, { force: true });
    }
  }

  async #removeOthers(partition: number, file: string): Promise<void> {
    const { clock } = this.#options;
    for (const other of await this.#all(partition)) {
      if (other.file !== file) await rm(other.file, { force: true });
    }
    for (const other of await this.#files(partition, '.part')) {
      const { mtimeMs } = await stat(other);
      if (clock.now() - mtimeMs > unfinishedMs) await rm(other, { force: true });
    }
  }

  /** The newest first. */
  async #all(partition: number): Promise<Snapshot[]> {
    const found: Snapshot[] = [];
    for (const file of await this.#files(partition, '.db')) {
      const { mtimeMs } = await stat(file);
      found.push({ file, digest: file.split('.').at(-2) ?? '', madeAt: mtimeMs });
    }
    return found.sort((a, b) => b.madeAt - a.madeAt);
  }

  async #files(partition: number, end: string): Promise<string[]> {
    const { folder } = this.#options;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const names = await readdir(folder);
    return names
      .filter((name) => name.startsWith(`records-${partition}.`) && name.endsWith(end))
      .map((name) => join(folder, name));
  }
}

/** Copies a file. Resolves with its SHA-256. */
async function copied(from: string, target: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  const hashed = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  };
  await pipeline(createReadStream(from), hashed, createWriteStream(target, { mode: 0o600 }), {
    signal,
  });
  return hash.digest('hex');
}
