import { retrying } from '#kernel/retry.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import { type RecordChange, recordsTopic } from '#modules/records/model/events.ts';
import { HeldPartitions } from '#streams/held-partitions.ts';
import { isFenced } from '#streams/owner/own-partition.ts';
import { typedProgressTopic, type TypedTopicProgress } from './progress.ts';
import { fillPartition } from './publishing/partition.ts';
import {
  typedTopicsGroup,
  type PublishingServices,
  type TypedTopicsDeps,
} from './publishing/shared.ts';
import { Targets } from './publishing/targets.ts';

const retryMaxMs = 10_000;

/**
 * Writes the typed topics of the models that are opted in (docs/reference/topics.md#typed-topics). Reads nothing before
 * the first opt-in.
 */
export async function startTypedTopics(deps: TypedTopicsDeps): Promise<AsyncDisposable> {
  const { schemas, control } = deps;
  const targets = new Targets(control);
  const services: PublishingServices = {
    ...deps,
    targets,
    changeCodec: await schemas.codec<RecordChange>(recordsTopic),
    progressCodec: await schemas.codec<TypedTopicProgress>(typedProgressTopic),
    async isConnectionGone(uid) {
      await control.view.caughtUp();
      return control.view.findBy(connectionEntity, 'uid', uid)?.state.isDeleting ?? true;
    },
  };
  const stopping = new AbortController();
  const running = run(services, stopping.signal);
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort();
      targets[Symbol.dispose]();
      await running;
    },
  };
}

async function run(services: PublishingServices, signal: AbortSignal): Promise<void> {
  await retryUntilDone(services, signal, async () => {
    for (;;) {
      const { list, changed } = services.targets.current();
      if (list.length > 0 || signal.aborted) break;
      await ended(AbortSignal.any([signal, changed]));
    }
    if (signal.aborted) return;
    const holders = new HeldPartitions((partition, held) =>
      retryUntilDone(services, held, () => fillPartition(services, partition, held)),
    );
    await using membership = await services.log.join(typedTopicsGroup, [recordsTopic], holders);
    services.logger.debug({ group: membership.group }, 'typed topics are written');
    await ended(signal);
    await holders.releaseAll();
  });
}

/** Retries the work over failures of the log. A fenced writer gives up: another process has acquired the partition. */
async function retryUntilDone(
  { logger, retryMs = 200 }: PublishingServices,
  signal: AbortSignal,
  task: () => Promise<void>,
): Promise<void> {
  const again = 'typed topics are taken up again';
  await retrying(task, {
    signal,
    firstMs: retryMs,
    lastMs: retryMaxMs,
    isRetryable: (error) => !isFenced(error),
    failed: (err) => logger.warn({ err, group: typedTopicsGroup }, again),
  }).catch(() => undefined);
}

function ended(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
