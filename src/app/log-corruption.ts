import { isLogCorruption } from '#adapters/event-log/embedded/corruption.ts';
import { logFile } from '#adapters/event-log/embedded/tables.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import type { Folders } from './folders.ts';

/** Corruption of the embedded log, found by any thread of this process. Only a backup repairs it. */
export class LogCorruption {
  readonly #folders: Pick<Folders, 'log'>;
  #found: string | null = null;

  constructor(folders: Pick<Folders, 'log'>) {
    this.#folders = folders;
  }

  found(message: string): void {
    this.#found ??= message;
  }

  /** Why this node is not ready; empty = no corruption was found. */
  reasons(): readonly string[] {
    return this.#found === null ? [] : [this.#text(this.#found)];
  }

  /** The cause of a failed start: corruption, if any was found, explains the other errors. */
  causeOf(error: unknown): unknown {
    if (isLogCorruption(error)) this.found(error.message);
    return this.#found === null || CannotStart.is(error)
      ? error
      : new CannotStart(this.#text(this.#found), { cause: error });
  }

  #text(found: string): string {
    const { log } = this.#folders;
    return `${found} Its files are ${logFile(log)} and row-keys: restore the folder ${log} from its backup, or import an export of the log into an empty data folder (svc log import).`;
  }
}
