import type { RunningThread } from './threads/start-thread.ts';

/** Says which thread has ended, or what a thread waits for; empty = this node can do its work. */
export function createReadiness(threads: readonly RunningThread[]): () => readonly string[] {
  const ended: string[] = [];
  const waiting = new Map<RunningThread, string>();
  for (const thread of threads) {
    thread.failed.catch((error: unknown) =>
      ended.push(error instanceof Error ? error.message : 'ended'),
    );
    thread.onUnready((reason) => {
      if (reason === null) waiting.delete(thread);
      else waiting.set(thread, reason);
    });
  }
  return () => [...ended, ...waiting.values()];
}
