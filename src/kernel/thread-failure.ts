/** A thread ended unexpectedly, or reported that it cannot continue; the process ends too. The message is one line. */
export class ThreadFailure extends Error {
  override readonly name = 'ThreadFailure';

  /** @param reason an error of the thread, or what it reports */
  constructor(thread: string, reason: unknown) {
    const text = reason instanceof Error ? `${reason.name}: ${reason.message}` : String(reason);
    const [line = ''] = text.split('\n', 1);
    super(`The ${thread} thread failed: ${line}`, { cause: reason });
  }
}

/** A start has failed, and a thread of it cannot be ended: only the end of the process ends it. */
export class UnendedThread extends ThreadFailure {}
