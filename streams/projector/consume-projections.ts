import type { Logger } from 'pino';
import { consume } from '#control-plane/consume.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import type { Batch } from '#ports/event-log.ts';
import {
  messageOf,
  projectionsTopic,
  type ProjectionMessage,
  type PublishedProjection,
} from './projection-message.ts';
import { untouched } from './projection-state.ts';

/** The decided state of a projection, as this thread knows it. */
export interface FollowedProjection extends AsyncDisposable {
  readonly current: PublishedProjection;
  /** Called after each change. */
  onChange(listener: (published: PublishedProjection) => void): void;
}

/** Resolves when everything that was decided before the call is known. */
export async function followProjection(
  deps: LogPorts & {
    readonly logger: Pick<Logger, 'error'>;
  },
  name: string,
): Promise<FollowedProjection> {
  const { log, schemas, logger } = deps;
  const codec = await schemas.codec<ProjectionMessage>(projectionsTopic);
  const listeners: ((published: PublishedProjection) => void)[] = [];
  const ending = new AbortController();
  let current = messageOf(untouched(name), '', 1);
  let next = 0;

  const apply = (batch: Batch): void => {
    next = batch.next;
    const last = batch.messages.findLast(({ key, value }) => key === name && value !== null);
    if (!last?.value) return;
    current = codec.decode(last.value);
    for (const listener of listeners) listener(current);
  };
  const position = { topic: projectionsTopic, partition: 0 };
  for await (const batch of log.read({ ...position, offset: 0 })) apply(batch);
  const following = consume(log, [{ ...position, offset: next }], apply, {
    signal: ending.signal,
    failed: (err) => logger.error({ err }, 'consuming the projections failed'),
  });

  return {
    get current() {
      return current;
    },
    onChange: (listener) => void listeners.push(listener),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await following;
    },
  };
}
