import type { Contact } from './contact.ts';
import type { RunningThread } from './threads/start-thread.ts';

/**
 * Says which thread has ended or what it waits for, and what this node hears nothing from; empty = it can do its
 * work.
 */
export function createReadiness(
  threads: readonly RunningThread[],
  contact: Pick<Contact, 'reasons'>,
): () => readonly string[] {
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
  return () => [...ended, ...waiting.values(), ...contact.reasons()];
}
