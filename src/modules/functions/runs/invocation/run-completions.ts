import type { Logger } from 'pino';
import { consume, endsOf } from '#control-plane/consume.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import { splitKey } from '#kernel/ids.ts';
import { isEnd, type RunChanged } from '../ledger/events.ts';

const topic = 'svc.runs.v1';

/** Notifies waiting callers on this node of the outcome of a run. */
export interface RunCompletions extends AsyncDisposable {
  /**
   * Must be called before the run is queued, because only later outcomes are received.
   * @throws the signal's reason
   */
  next(runId: string, signal: AbortSignal): Promise<RunChanged>;
}

/** By run: repeated requests wait for the same run. */
type CompletionWaiters = Map<string, Set<(end: RunChanged) => void>>;

/** Consumes `svc.runs.v1` from its end: one reader for all waiting callers on this node. */
export async function consumeRunCompletions(
  deps: LogPorts & { readonly logger: Logger },
): Promise<RunCompletions> {
  const codec = await deps.schemas.codec<RunChanged>(topic);
  const waiting: CompletionWaiters = new Map();
  const positions = await endsOf(deps.log, topic);
  const stopping = new AbortController();
  const running = consume(
    deps.log,
    positions,
    ({ messages }) => {
      for (const message of messages) {
        const waiters = waiting.get(splitKey(message.key).at(-1) ?? '');
        if (waiters === undefined || message.value === null) continue;
        const change = codec.decode(message.value);
        if (isEnd(change.action)) for (const publish of waiters) publish(change);
      }
    },
    {
      signal: stopping.signal,
      failed: (err) => deps.logger.warn({ err }, 'ends of runs are followed again'),
    },
  );

  return {
    next(runId, signal) {
      const { promise, resolve, reject } = Promise.withResolvers<RunChanged>();
      const give = () => reject(signal.reason as Error);
      const others = waiting.get(runId);
      if (others === undefined) waiting.set(runId, new Set([resolve]));
      else others.add(resolve);
      if (signal.aborted) give();
      signal.addEventListener('abort', give, { once: true });
      return promise.finally(() => {
        const left = waiting.get(runId);
        left?.delete(resolve);
        if (left?.size === 0) waiting.delete(runId);
        signal.removeEventListener('abort', give);
      });
    },
    async [Symbol.asyncDispose]() {
      stopping.abort();
      await running;
    },
  };
}
