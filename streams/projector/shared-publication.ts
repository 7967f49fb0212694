import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { ProjectionStore } from '#ports/projection-store.ts';
import { Positions } from './positions.ts';
import { createPublication } from './publication.ts';

/** How often the table of positions is queried while a caller waits and no notification arrives. */
const askEveryMs = 500;

export interface SharedPublication extends AsyncDisposable {
  /** Called with the progress of a projector, of this process or another. */
  readonly advance: (partition: number, next: number) => void;
  /** Resolves when changes up to the offset (exclusive) are readable; rejects on abort. */
  readonly published: (partition: number, offset: number, signal: AbortSignal) => Promise<void>;
  /** The next offset that is not readable yet, as far as is known here. */
  readonly next: (partition: number) => number;
  /** As `Publication.isAwaited`, of callers of this process. */
  readonly isAwaited: (partition: number, next: number) => boolean;
  /** Queries the table of positions. @throws GatewayError `projection_unavailable` */
  readonly refresh: () => Promise<void>;
}

/**
 * Progress of the projectors of all processes: from their notifications, and from the table of positions where
 * notifications are lost.
 */
export function createSharedPublication(deps: {
  readonly store: ProjectionStore;
  /** Of the projection, as in its stored positions. */
  readonly name: string;
  readonly logger: Pick<Logger, 'debug'>;
}): SharedPublication {
  const positions = new Positions(deps.store, deps.name);
  const publication = createPublication();
  const ending = new AbortController();
  let waiting = 0;
  let asking: Promise<void> | null = null;

  const advance = (partition: number, next: number): void => {
    if (next > publication.next(partition)) publication.advance(partition, next);
  };
  const refresh = async (): Promise<void> => {
    for (const [partition, next] of await positions.readable()) advance(partition, next);
  };
  const read = async (): Promise<void> => {
    while (waiting > 0 && !ending.signal.aborted) {
      try {
        await refresh();
      } catch (err) {
        deps.logger.debug({ err }, 'positions of the projectors could not be read');
      }
      await sleep(askEveryMs, undefined, { signal: ending.signal }).catch(() => undefined);
    }
    asking = null;
  };

  return {
    advance,
    refresh,
    next: (partition) => publication.next(partition),
    isAwaited: (partition, next) => publication.isAwaited(partition, next),
    async published(partition, offset, signal) {
      waiting++;
      asking ??= read();
      try {
        await publication.published(partition, offset, AbortSignal.any([signal, ending.signal]));
      } finally {
        waiting--;
      }
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await asking;
    },
  };
}
