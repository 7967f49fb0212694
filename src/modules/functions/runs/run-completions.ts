import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import { splitKey } from '../../../kernel/ids.ts';
import type { EventLog, Position } from '../../../ports/event-log.ts';
import type { Codec, Schemas } from '../../../ports/schemas.ts';
import { isEnd, type RunChanged } from './events.ts';

const topic = 'svc.runs.v1';
const outageWaitMs = 200;

/** Notifies waiting callers on this node of the outcome of a run. */
export interface RunCompletions extends AsyncDisposable {
  /**
   * Must be called before the run is queued, because only later outcomes are received.
   * @throws the signal's reason
   */
  next(runId: string, signal: AbortSignal): Promise<RunChanged>;
}

/** By run: repeated requests wait for the same run. */
type Waiting = Map<string, Set<(end: RunChanged) => void>>;

/** Consumes `svc.runs.v1` from its end: one reader for all waiting callers on this node. */
export async function consumeRunCompletions(deps: {
  readonly log: EventLog;
  readonly schemas: Schemas;
  readonly logger: Logger;
}): Promise<RunCompletions> {
  const codec = await deps.schemas.codec<RunChanged>(topic);
  const waiting: Waiting = new Map();
  const positions = await ends(deps.log);
  const stopping = new AbortController();
  const running = follow(deps, codec, waiting, positions, stopping.signal);

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

async function ends(log: EventLog): Promise<Position[]> {
  const count = await log.partitions(topic);
  const numbers = Array.from({ length: count }, (_, partition) => partition);
  return Promise.all(
    numbers.map(async (partition) => ({
      topic,
      partition,
      offset: await log.endOffset(topic, partition),
    })),
  );
}

async function follow(
  { log, logger }: { readonly log: EventLog; readonly logger: Logger },
  codec: Codec<RunChanged>,
  waiting: Waiting,
  positions: Position[],
  signal: AbortSignal,
): Promise<void> {
  const at = new Map(positions.map((position) => [position.partition, position]));
  while (!signal.aborted) {
    try {
      for await (const batch of log.follow([...at.values()], { signal })) {
        for (const message of batch.messages) {
          const published = waiting.get(splitKey(message.key).at(-1) ?? '');
          if (published === undefined || message.value === null) continue;
          const change = codec.decode(message.value);
          if (isEnd(change.action)) for (const publish of published) publish(change);
        }
        at.set(batch.partition, { topic, partition: batch.partition, offset: batch.next });
      }
    } catch (error) {
      if (isOver(signal)) return;
      logger.warn({ err: error }, 'ends of runs are followed again');
      await wait(outageWaitMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

const isOver = (signal: AbortSignal): boolean => signal.aborted;
