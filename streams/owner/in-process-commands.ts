import type { ControlCommand } from '#control-plane/entity.ts';
import type { Reply } from '#control-plane/replies.ts';

/** A command whose sender waits in this process, and how to reply; null = not decided here. */
export interface InProcessCommand {
  readonly command: ControlCommand;
  readonly trace: string;
  readonly answer: PromiseWithResolvers<Reply<object> | null>;
}

/** Beyond this number the log, which has room, is the queue. */
const waitingMax = 1024;

/** Commands for one partition that arrived past the log. Accepts none before it is opened or after it is closed. */
export class InProcessCommands {
  #waiting: InProcessCommand[] = [];
  #came = Promise.withResolvers<undefined>();
  #isOpen = false;

  open(): void {
    this.#isOpen = true;
  }

  add(command: ControlCommand, trace: string): Promise<Reply<object> | null> {
    if (!this.#isOpen || this.#waiting.length >= waitingMax) return Promise.resolve(null);
    const answer = Promise.withResolvers<Reply<object> | null>();
    this.#waiting.push({ command, trace, answer });
    this.#came.resolve(undefined);
    return answer.promise;
  }

  /** Resolves when a command is available, or the signal has aborted. */
  async came(signal: AbortSignal): Promise<void> {
    const ring = (): void => this.#came.resolve(undefined);
    signal.addEventListener('abort', ring, { once: true });
    if (signal.aborted) ring();
    await this.#came.promise;
    signal.removeEventListener('abort', ring);
  }

  take(countMax: number): InProcessCommand[] {
    const taken = this.#waiting.splice(0, countMax);
    if (this.#waiting.length === 0) this.#came = Promise.withResolvers();
    return taken;
  }

  /** Rejects the remaining commands as not decided here. */
  close(): void {
    this.#isOpen = false;
    for (const { answer } of this.#waiting.splice(0)) answer.resolve(null);
  }
}
