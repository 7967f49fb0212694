import { isLogCorruption } from '#adapters/event-log/embedded/corruption.ts';
import { logFile } from '#adapters/event-log/embedded/tables.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { isLogIncomplete } from '#kernel/errors.ts';
import type { Folders } from './folders.ts';

/**
 * Damage of the log that threads of this process found: corruption, which only a backup repairs, and missing messages,
 * which an operator may accept.
 */
export class LogCorruption {
  readonly #folders: Pick<Folders, 'log'>;
  #found: string | null = null;
  /** By the part that misses them. */
  readonly #missing = new Map<string, string>();

  constructor(folders: Pick<Folders, 'log'>) {
    this.#folders = folders;
  }

  found(message: string): void {
    this.#found ??= message;
  }

  /** @param message null: the part misses nothing (any more) */
  missing(part: string, message: string | null): void {
    if (message === null) this.#missing.delete(part);
    else this.#missing.set(part, message);
  }

  /** Why this node is not ready; empty = no damage was found. */
  reasons(): readonly string[] {
    const missing = [...this.#missing.values()].map((message) => this.#textOfMissing(message));
    return this.#found === null ? missing : [this.#text(this.#found), ...missing];
  }

  /** The cause of a failed start: damage, if any was found, explains the other errors. */
  causeOf(error: unknown): unknown {
    if (isLogCorruption(error)) this.found(error.message);
    if (isLogIncomplete(error)) this.missing('log', error.message);
    const [reason] = this.reasons();
    return reason === undefined || CannotStart.is(error)
      ? error
      : new CannotStart(reason, { cause: error });
  }

  #text(found: string): string {
    const { log } = this.#folders;
    return `${found} Its files are ${logFile(log)} and row-keys: restore the folder ${log} from its backup, or import an export of the log into an empty data folder (svc log import).`;
  }

  #textOfMissing(message: string): string {
    const { log } = this.#folders;
    return `${message} Restore the log (embedded: the folder ${log} as a whole, with log.sqlite-wal) from its backup; or accept the loss: stop the service and run svc log accept-loss with its settings.`;
  }
}
