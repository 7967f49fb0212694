/** Statements of this thread that run in the engine of this process. */
const running = new Set<Promise<unknown>>();
let isSettling = false;

/** @throws Error after `settleStatements` */
export async function runStatement<T>(statement: () => Promise<T>): Promise<T> {
  if (isSettling) throw new Error('The thread ends: it begins no statement any more.');
  const result = statement();
  running.add(result);
  try {
    return await result;
  } finally {
    running.delete(result);
  }
}

/**
 * Call it before the thread is terminated without a graceful end: it begins no statement any more. Resolves when none
 * runs. A termination would wait for the statement, and the engine's answer to a thread that is gone ends the process.
 */
export async function settleStatements(): Promise<void> {
  isSettling = true;
  while (running.size > 0) await Promise.allSettled(running);
}
