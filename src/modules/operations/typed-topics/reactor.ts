import { setTimeout as wait } from 'node:timers/promises';
import { GatewayError } from '../../../kernel/errors.ts';
import type { Connection } from '../../connections/connections/state.ts';
import type { RecordChange } from '../../records/events.ts';
import { recordsTopic } from '../../records/stream-head.ts';
import { typedProgressTopic, type TypedTopicProgress } from './progress.ts';
import { fillPartition } from './publishing/partition.ts';
import { typedTopicsGroup, type Shared, type TypedTopicsDeps } from './publishing/shared.ts';
import { Targets } from './publishing/targets.ts';

const retryMaxMs = 10_000;

/**
 * Writes the typed topics of the models that are opted in (docs/reference/topics.md#typed-topics). Reads nothing before
 * the first opt-in.
 */
export async function startTypedTopics(deps: TypedTopicsDeps): Promise<AsyncDisposable> {
  const { schemas, control } = deps;
  const targets = new Targets(control);
  const shared: Shared = {
    ...deps,
    targets,
    changeCodec: await schemas.codec<RecordChange>(recordsTopic),
    progressCodec: await schemas.codec<TypedTopicProgress>(typedProgressTopic),
    async isConnectionGone(uid) {
      await control.view.caughtUp();
      return control.view.findBy<Connection>('connection', 'uid', uid)?.state.isDeleting ?? true;
    },
  };
  const stopping = new AbortController();
  const running = run(shared, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      targets[Symbol.dispose]();
      await running;
    },
  };
}

async function run(shared: Shared, signal: AbortSignal): Promise<void> {
  await retryUntilDone(shared, signal, async () => {
    for (;;) {
      const { list, changed } = shared.targets.current();
      if (list.length > 0 || signal.aborted) break;
      await ended(AbortSignal.any([signal, changed]));
    }
    if (signal.aborted) return;
    const holders = new Holders(shared);
    await using membership = await shared.log.join(typedTopicsGroup, [recordsTopic], holders);
    shared.logger.debug({ group: membership.group }, 'typed topics are written');
    await ended(signal);
    await holders.releaseAll();
  });
}

/** The partitions that are assigned to this process. */
class Holders {
  readonly #shared: Shared;
  readonly #held = new Map<
    number,
    { readonly abort: AbortController; readonly done: Promise<void> }
  >();

  constructor(shared: Shared) {
    this.#shared = shared;
  }

  assigned(partitions: readonly number[]): void {
    for (const partition of partitions) {
      if (this.#held.has(partition)) continue;
      const abort = new AbortController();
      const task = () => fillPartition(this.#shared, partition, abort.signal);
      const done = retryUntilDone(this.#shared, abort.signal, task).finally(() => {
        if (this.#held.get(partition)?.abort === abort) this.#held.delete(partition);
      });
      this.#held.set(partition, { abort, done });
    }
  }

  async revoked(partitions: readonly number[]): Promise<void> {
    const held = partitions.flatMap((partition) => this.#held.get(partition) ?? []);
    for (const { abort } of held) abort.abort();
    await Promise.all(held.map(({ done }) => done));
  }

  releaseAll(): Promise<void> {
    return this.revoked([...this.#held.keys()]);
  }
}

/** Retries the work over failures of the log. A fenced writer gives up: another process has acquired the partition. */
async function retryUntilDone(
  { logger, retryMs = 200 }: Shared,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; failures++) {
    try {
      await task();
      return;
    } catch (error) {
      if (isOver(signal)) return;
      if (error instanceof GatewayError && error.code === 'writer_fenced') return;
      logger.warn({ err: error, group: typedTopicsGroup }, 'typed topics are taken up again');
      const ms = Math.min(retryMs * 2 ** failures, retryMaxMs);
      await wait(ms, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** Reads the signal again after an await. */
const isOver = (signal: AbortSignal): boolean => signal.aborted;

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
