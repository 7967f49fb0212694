import type { MessageReactor } from './reactor.ts';

/** How often the finished position is committed while it moves. */
const commitEveryMs = 250;

type CommitContext = Pick<MessageReactor, 'log' | 'group' | 'topic' | 'logger'>;

/** Tracks the lowest unfinished offset, and commits it while it moves. */
export class Watermark {
  readonly #options: CommitContext;
  readonly #partition: number;
  /** Unfinished offsets, ascending: they are opened in that order. */
  readonly #open = new Set<number>();
  /** Offset abandoned on a stop: the position must not pass it. */
  #stuckAt: number | null = null;
  #next = 0;
  #committed = 0;
  #timer: NodeJS.Timeout | null = null;
  #committing: Promise<void> = Promise.resolve();
  #wake: (() => void)[] = [];

  constructor(options: CommitContext, partition: number) {
    this.#options = options;
    this.#partition = partition;
  }

  begin(offset: number): void {
    this.#next = offset;
    this.#committed = offset;
  }

  open(offset: number): (isFinished: boolean) => void {
    this.#open.add(offset);
    this.#next = Math.max(this.#next, offset + 1);
    return (isFinished) => {
      if (!isFinished) this.#stuckAt = Math.min(this.#stuckAt ?? offset, offset);
      this.#open.delete(offset);
      for (const wake of this.#wake.splice(0)) wake();
      this.#schedule();
    };
  }

  readTo(next: number): void {
    this.#next = Math.max(this.#next, next);
    this.#schedule();
  }

  async room(max: number, signal: AbortSignal): Promise<void> {
    while (this.#open.size >= max && !signal.aborted) await this.#changed(signal);
  }

  async idle(): Promise<void> {
    while (this.#open.size > 0) await this.#changed();
  }

  async close(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#commit();
    await this.#committing;
  }

  #changed(signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<undefined>();
    const wake = () => resolve(undefined);
    this.#wake.push(wake);
    signal?.addEventListener('abort', wake, { once: true });
    return promise.finally(() => signal?.removeEventListener('abort', wake));
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      this.#commit();
    }, commitEveryMs);
  }

  #commit(): void {
    const [oldest = this.#next] = this.#open;
    const offset = Math.min(oldest, this.#stuckAt ?? oldest);
    if (offset <= this.#committed) return;
    this.#committed = offset;
    const { log, group, topic, logger } = this.#options;
    const positions = [{ topic, partition: this.#partition, offset }];
    this.#committing = this.#committing
      .then(() => log.commit({ group, positions }))
      .catch((error: unknown) =>
        logger.warn({ err: error, group }, 'a position was not committed'),
      );
  }
}
