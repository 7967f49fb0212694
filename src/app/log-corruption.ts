import { isLogCorruption } from '../adapters/event-log/embedded/corruption.ts';
import { logFile } from '../adapters/event-log/embedded/tables.ts';
import { CannotStart } from '../kernel/cannot-start.ts';
import type { Folders } from './folders.ts';

/** Damage of the embedded log that any thread of this process has found. Nothing but a backup repairs it. */
export class LogCorruption {
  readonly #folders: Pick<Folders, 'log'>;
  #found: string | null = null;

  constructor(folders: Pick<Folders, 'log'>) {
    this.#folders = folders;
  }

  found(message: string): void {
    this.#found ??= message;
  }

  /** Why this node cannot do all of its work; empty = nothing was found so far. */
  reasons(): readonly string[] {
    return this.#found === null ? [] : [this.#text(this.#found)];
  }

  /** Why the start failed: what else went wrong came of the damage, where there is some. */
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
