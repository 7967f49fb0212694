import type { RunningThread } from './threads/start-thread.ts';

/** Says which thread has ended; empty = this node can do its work. */
export function createReadiness(threads: readonly RunningThread[]): () => readonly string[] {
  const reasons: string[] = [];
  for (const { failed } of threads) {
    failed.catch((error: unknown) =>
      reasons.push(error instanceof Error ? error.message : 'ended'),
    );
  }
  return () => reasons;
}
