import type { LogLiveness } from './log-liveness.ts';
import type { LogCorruption } from './log-corruption.ts';
import type { RunningThread } from './threads/start-thread.ts';

export interface Readiness {
  /**
   * Why this node is not ready: it is starting, a thread has ended or waits, the log is silent or corrupt. Empty =
   * ready.
   */
  readonly reasons: () => readonly string[];
  /** Call when the start has finished: from now on a request with a valid key succeeds. */
  readonly started: () => void;
}

/** A node that has not finished its start is not ready, although it already listens. */
const starting = 'the start has not finished: the API keys of the service are not known here yet';

export function createReadiness(
  threads: readonly RunningThread[],
  liveness: Pick<LogLiveness, 'reasons'>,
  corruption: Pick<LogCorruption, 'reasons'>,
): Readiness {
  let isStarted = false;
  const ended: string[] = [];
  const waiting = new Map<RunningThread, string>();
  for (const thread of threads) {
    thread.failed.catch((error: unknown) =>
      ended.push(error instanceof Error ? error.message : 'ended'),
    );
    thread.onReadiness((reason) => {
      if (reason === null) waiting.delete(thread);
      else waiting.set(thread, reason);
    });
  }
  return {
    reasons: () => [
      ...(isStarted ? [] : [starting]),
      ...ended,
      ...waiting.values(),
      ...liveness.reasons(),
      ...corruption.reasons(),
    ],
    started: () => {
      isStarted = true;
    },
  };
}
